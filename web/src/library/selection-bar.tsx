// What can be done with the selected tracks.
import { ListPlus, MessageSquareText, Trash2, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { takeBack } from '../api/playlist-queries';
import { removeTracks, useChanged } from '../api/queries';
import type { LibraryEntry } from '../api/types';
import { NEW_CHAT, returnToDraft } from '../chat/drafts';
import { plural, t } from '../i18n';
import AddToPlaylist from '../playlists/add-to-playlist';
import { toast, toastError } from '../ui/toast';
import './selection.css';

/** More names than this make no question that a person would read. */
const MOST_NAMED = 30;
/** As many as the server removes in one step. */
const AT_ONCE = 1000;

export function SelectionBar({ tracks, onClear }: { tracks: LibraryEntry[]; onClear: () => void }) {
  const [adding, setAdding] = useState(false);
  const [busy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const changed = useChanged();
  useClearOnEscape(onClear);

  const remove = async () => {
    setBusy(true);
    const undos: string[] = [];
    let removed = 0;
    try {
      for (let from = 0; from < tracks.length; from += AT_ONCE) {
        const done = await removeTracks(tracks.slice(from, from + AT_ONCE).map(({ trackId }) => trackId));
        undos.push(done.undoId);
        removed += done.removed;
      }
      onClear();
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    changed('library');
    if (removed === 0) return;
    const undo = async () => {
      for (const id of undos) await takeBack(id);
      changed('library');
    };
    toast(plural(removed, 'Removed {n} track from the library', 'Removed {n} tracks from the library'), { undo });
  };
  const ask = () => {
    const named = tracks.map(({ title, artist }) => (artist ? t('“{title}” by {artist}', { title, artist }) : t('“{title}”', { title })));
    returnToDraft(NEW_CHAT, t('About {tracks}: ', { tracks: named.join(', ') }));
    navigate('/');
  };

  return (
    <div className="selection-bar rise" role="toolbar" aria-label={t('Selected tracks')}>
      <span className="selection-count">
        {tracks.length === 0 ? t('Select tracks') : plural(tracks.length, '{n} selected', '{n} selected')}
      </span>
      <button type="button" className="button small" disabled={tracks.length === 0} onClick={() => setAdding(true)}>
        <ListPlus size={15} aria-hidden /> <Label full={t('Add to playlist …')} short={t('Add')} />
      </button>
      <button
        type="button"
        className="button small"
        disabled={tracks.length === 0 || tracks.length > MOST_NAMED}
        title={tracks.length > MOST_NAMED ? t('Select at most {n} to ask about them', { n: MOST_NAMED }) : undefined}
        onClick={ask}
      >
        <MessageSquareText size={15} aria-hidden /> <Label full={t('Ask about these')} short={t('Ask')} />
      </button>
      <button type="button" className="button small danger" disabled={busy || tracks.length === 0} onClick={() => void remove()}>
        <Trash2 size={15} aria-hidden /> <Label full={t('Remove from library')} short={t('Remove')} />
      </button>
      <button type="button" className="icon-button small" aria-label={t('Clear the selection')} title={t('Clear (Esc)')} onClick={onClear}>
        <X size={16} />
      </button>
      {adding && <AddToPlaylist tracks={tracks} onClose={() => setAdding(false)} onAdded={onClear} />}
    </div>
  );
}

/** On a phone three buttons share one line; a screen reader says the whole label everywhere. */
function Label({ full, short }: { full: string; short: string }) {
  return (
    <>
      <span className="selection-full">{full}</span>
      <span className="selection-short" aria-hidden>
        {short}
      </span>
    </>
  );
}

function useClearOnEscape(clear: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const elsewhere = document.querySelector('dialog[open], [role="menu"]');
      const isSearch = event.target instanceof HTMLInputElement && event.target.type === 'search' && event.target.value !== '';
      if (event.key === 'Escape' && !event.defaultPrevented && !elsewhere && !isSearch) clear();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [clear]);
}
