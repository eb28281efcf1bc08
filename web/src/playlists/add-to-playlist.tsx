// Which playlist tracks go to: one of those that are there, or a new one.
import { ListMusic, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { addToPlaylist, createPlaylist, takeBack, usePlaylists } from '../api/playlist-queries';
import { useChanged } from '../api/queries';
import type { ChangedPlaylist } from '../api/types';
import { t } from '../i18n';
import { Dialog } from '../ui/dialog';
import { count } from '../ui/format';
import { Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import './add-to-playlist.css';

interface Props {
  tracks: { trackId: string; title: string }[];
  onClose: () => void;
  onAdded?: () => void;
}

export default function AddToPlaylist({ tracks, onClose, onAdded }: Props) {
  const { data, error, refetch } = usePlaylists();
  const [title, setTitle] = useState('');
  const changed = useChanged();
  const trackIds = tracks.map(({ trackId }) => trackId);

  const add = async (write: () => Promise<ChangedPlaylist>) => {
    onClose();
    try {
      const { title: name, undoId } = await write();
      changed('playlists');
      onAdded?.();
      const what = tracks.length === 1 ? t('“{title}”', { title: tracks[0]?.title ?? '' }) : count(tracks.length, 'track');
      toast(t('Added {what} to “{playlist}”', { what, playlist: name }), {
        undo: () => takeBack(undoId).then(() => changed('playlists')),
      });
    } catch (error) {
      toastError(error);
    }
  };
  const make = (event: FormEvent) => {
    event.preventDefault();
    if (title.trim() !== '') void add(() => createPlaylist({ title, trackIds }));
  };

  return (
    <Dialog title={t('Add to playlist')} onClose={onClose}>
      <form className="new-playlist" onSubmit={make}>
        <input
          className="field"
          aria-label={t('Title of a new playlist')}
          placeholder={t('New playlist')}
          dir="auto"
          maxLength={200}
          value={title}
          onChange={(event) => setTitle(event.target.value)}
          data-autofocus
        />
        <button type="submit" className="button primary" disabled={title.trim() === ''}>
          <Plus size={16} aria-hidden /> {t('Make')}
        </button>
      </form>
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={3} label={t('Loading playlists')} />}
      <ul className="pick-playlist">
        {data?.map(({ id, title: name, trackCount }) => (
          <li key={id}>
            <button type="button" onClick={() => void add(() => addToPlaylist(id, trackIds))}>
              <ListMusic size={16} aria-hidden />
              <span dir="auto">{name}</span>
              <span className="track-by">{count(trackCount, 'track')}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
