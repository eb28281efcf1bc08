// Playlists: all of them, or one of them.
import { ListMusic, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Link, useSearchParams } from 'wouter';
import { createPlaylist, deletePlaylist, restorePlaylist, takeBack, usePlaylists } from '../api/playlist-queries';
import { useChanged } from '../api/queries';
import type { PlaylistDetails, PlaylistLine } from '../api/types';
import { t } from '../i18n';
import { Artwork } from '../music/artwork';
import { usePageTitle } from '../shell/page-title';
import { Dialog } from '../ui/dialog';
import { count, shortDate } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { OnePlaylist } from './one-playlist';
import './playlists.css';

export default function PlaylistsPage() {
  const [search, setSearch] = useSearchParams();
  const changed = useChanged();
  const id = search.get('id');

  const remove = async (playlist: PlaylistDetails) => {
    // Leave its page first: what is deleted must not be asked for again.
    setSearch({});
    try {
      await deletePlaylist(playlist.id);
    } catch (error) {
      return toastError(error);
    }
    changed('playlists');
    toast(t('Deleted “{title}”', { title: playlist.title }), { undo: () => restorePlaylist(playlist.id).then(() => changed('playlists')) });
  };
  const open = (playlistId: string) => setSearch({ id: playlistId });

  return (
    <div className="page">
      <div className="page-inner">
        {id ? (
          <OnePlaylist key={id} id={id} onRemove={(playlist) => void remove(playlist)} onOpen={open} />
        ) : (
          <AllPlaylists onOpen={open} />
        )}
      </div>
    </div>
  );
}

function AllPlaylists({ onOpen }: { onOpen: (id: string) => void }) {
  usePageTitle(t('Playlists'));
  const { data, error, refetch } = usePlaylists();
  const [making, setMaking] = useState(false);
  return (
    <>
      <header className="page-head">
        <h1>{t('Playlists')}</h1>
        <button type="button" className="button" onClick={() => setMaking(true)}>
          <Plus size={16} aria-hidden /> {t('New playlist')}
        </button>
      </header>
      {making && <NewPlaylist onClose={() => setMaking(false)} onMade={onOpen} />}
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={4} height={76} label={t('Loading playlists')} />}
      {data?.length === 0 && (
        <Empty icon={ListMusic} title={t('No playlists yet')}>
          <p>{t('Make one yourself, or ask Discover to put one together: it comes with a reason for every track.')}</p>
          <Link className="button" href="/">
            {t('Ask Discover')}
          </Link>
        </Empty>
      )}
      <ul className="playlist-grid">
        {data?.map((playlist) => (
          <li key={playlist.id}>
            <PlaylistCard playlist={playlist} />
          </li>
        ))}
      </ul>
    </>
  );
}

function NewPlaylist({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) {
  const [title, setTitle] = useState('');
  const changed = useChanged();
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (title.trim() === '') return;
    try {
      const made = await createPlaylist({ title });
      changed('playlists');
      onClose();
      onMade(made.id);
      toast(t('Made “{title}”', { title: made.title }), { undo: () => takeBack(made.undoId).then(() => changed('playlists')) });
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Dialog title={t('New playlist')} onClose={onClose}>
      <form className="new-playlist" onSubmit={(event) => void make(event)}>
        <input
          className="field"
          aria-label={t('Title')}
          placeholder={t('Title')}
          dir="auto"
          maxLength={200}
          value={title}
          onChange={(event) => setTitle(event.target.value)}
          data-autofocus
        />
        <button type="submit" className="button primary" disabled={title.trim() === ''}>
          {t('Make')}
        </button>
      </form>
    </Dialog>
  );
}

function PlaylistCard({ playlist }: { playlist: PlaylistLine }) {
  const facts = [count(playlist.trackCount, 'track'), shortDate(playlist.createdAt)];
  return (
    <Link className="playlist-card" href={`/playlists?id=${playlist.id}`}>
      <Artwork seed={playlist.id} size={72} />
      <span>
        <span className="playlist-title" dir="auto">
          {playlist.title}
        </span>
        <span className="track-by" dir="auto">
          {facts.join(' · ')}
        </span>
        {playlist.description && (
          <span className="playlist-about" dir="auto">
            {playlist.description}
          </span>
        )}
      </span>
    </Link>
  );
}
