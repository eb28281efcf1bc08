// Tracks for a playlist: searched by name or by mood, added with one press each.
import { Check, Plus } from 'lucide-react';
import { useState } from 'react';
import { addToPlaylist, takeBack } from '../api/playlist-queries';
import { useChanged, useSearchByMeaning, useTracks } from '../api/queries';
import type { TrackResult } from '../api/types';
import { t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { useDebounced } from '../ui/debounced';
import { Dialog } from '../ui/dialog';
import { Failed } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import './add-tracks.css';

const MOST = 30;

export function AddTracks({ playlistId, title, onClose }: { playlistId: string; title: string; onClose: () => void }) {
  const [words, setWords] = useState('');
  const q = useDebounced(words.trim(), 200);
  const mine = useTracks(q, 'added');
  const found = useSearchByMeaning(q);
  const own = mine.data?.pages.flatMap((page) => page.tracks) ?? [];
  const others = q === '' ? [] : (found.data?.tracks ?? []);
  const tracks = distinctTracks([...own, ...others]).slice(0, MOST);
  const error = mine.error ?? found.error;
  return (
    <Dialog title={t('Add tracks')} onClose={onClose}>
      <input
        className="field"
        type="search"
        aria-label={t('Search for tracks')}
        placeholder={t('A title, an artist, or a mood')}
        dir="auto"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        data-autofocus
      />
      {error && <Failed error={error} onRetry={() => void Promise.all([mine.refetch(), found.refetch()])} />}
      <ul className="add-tracks" aria-label={t('Tracks to add')}>
        {tracks.map((track) => (
          <Addable key={track.trackId} track={track} playlistId={playlistId} playlist={title} />
        ))}
      </ul>
      {!error && tracks.length === 0 && !mine.isPending && !found.isFetching && <p className="tool-note">{t('Nothing found.')}</p>}
    </Dialog>
  );
}

function distinctTracks(tracks: TrackResult[]): TrackResult[] {
  const seen = new Map(tracks.toReversed().map((track) => [track.trackId, track]));
  return tracks.filter((track) => seen.get(track.trackId) === track);
}

function Addable({ track, playlistId, playlist }: { track: TrackResult; playlistId: string; playlist: string }) {
  const [added, setAdded] = useState(false);
  const changed = useChanged();
  const add = async () => {
    try {
      const { undoId } = await addToPlaylist(playlistId, [track.trackId]);
      setAdded(true);
      changed('playlists');
      const undo = async () => {
        await takeBack(undoId);
        setAdded(false);
        changed('playlists');
      };
      toast(t('Added “{title}” to “{playlist}”', { title: track.title, playlist }), { undo });
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <li>
      <Artwork seed={coverOf(track)} url={track.artworkUrl} />
      <span className="track-names">
        <span className="track-title" dir="auto">
          {track.title}
        </span>
        <span className="track-by" dir="auto">
          {track.artist}
        </span>
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={added ? t('Add {title} again', { title: track.title }) : t('Add {title}', { title: track.title })}
        onClick={() => void add()}
      >
        {added ? <Check size={17} /> : <Plus size={17} />}
      </button>
    </li>
  );
}
