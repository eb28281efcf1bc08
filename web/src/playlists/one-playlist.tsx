// One playlist: its words, its tracks, and what can be done with it.
import { ArrowLeft, Copy, ListMusic, ListPlus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../api/client';
import { duplicatePlaylist, takeBack, usePlaylist } from '../api/playlist-queries';
import { useChanged } from '../api/queries';
import type { PlaylistDetails } from '../api/types';
import { t } from '../i18n';
import { Artwork } from '../music/artwork';
import { usePageTitle } from '../shell/page-title';
import { clock, count, shortDate } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { AddTracks } from './add-tracks';
import { ExportMenu } from './export-menu';
import { InPlace } from './in-place';
import { PlaylistTracks } from './playlist-tracks';
import { usePlaylistEdits } from './use-playlist-edits';

interface Props {
  id: string;
  onRemove: (playlist: PlaylistDetails) => void;
  onOpen: (id: string) => void;
}

export function OnePlaylist({ id, onRemove, onOpen }: Props) {
  const { data: playlist, error, refetch } = usePlaylist(id);
  const [adding, setAdding] = useState(false);
  const changed = useChanged();
  usePageTitle(playlist?.title ?? t('Playlist'));
  if (error instanceof ApiError && error.status === 404) return <NoSuchPlaylist />;
  if (error && !playlist) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!playlist) return <SkeletonRows rows={6} label={t('Loading the playlist')} />;

  const duplicate = async () => {
    try {
      const copy = await duplicatePlaylist(id);
      changed('playlists');
      onOpen(copy.id);
      toast(t('Copied as “{title}”', { title: copy.title }), { undo: () => takeBack(copy.undoId).then(() => changed('playlists')) });
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <>
      <header className="playlist-head">
        <Artwork seed={playlist.id} size={132} />
        <div>
          <p className="playlist-back">
            <Link href="/playlists">
              <ArrowLeft size={14} aria-hidden /> {t('Playlists')}
            </Link>
          </p>
          <PlaylistWords playlist={playlist} />
          <div className="playlist-actions">
            <button type="button" className="button primary" onClick={() => setAdding(true)}>
              <ListPlus size={16} aria-hidden /> {t('Add tracks')}
            </button>
            <ExportMenu playlist={playlist} />
            <button type="button" className="button quiet" onClick={() => void duplicate()}>
              <Copy size={16} aria-hidden /> {t('Duplicate')}
            </button>
            <button type="button" className="button quiet danger" onClick={() => onRemove(playlist)}>
              <Trash2 size={16} aria-hidden /> {t('Delete')}
            </button>
          </div>
        </div>
      </header>
      {adding && <AddTracks playlistId={id} title={playlist.title} onClose={() => setAdding(false)} />}
      {playlist.tracks.length > 0 ? (
        <PlaylistTracks playlist={playlist} />
      ) : (
        <Empty icon={ListMusic} title={t('Nothing on it yet')}>
          <p>{t('Add tracks here, from a search, or by asking Discover.')}</p>
        </Empty>
      )}
    </>
  );
}

function PlaylistWords({ playlist }: { playlist: PlaylistDetails }) {
  const { change } = usePlaylistEdits(playlist.id);
  const { title, description, tracks, createdAt } = playlist;
  const length = tracks.reduce((seconds, track) => seconds + (track.duration ?? 0), 0);
  const facts = [count(tracks.length, 'track'), length > 0 && clock(length), shortDate(createdAt)];
  return (
    <>
      <h1>
        <InPlace
          text={title}
          label={t('Playlist title')}
          maxLength={200}
          onSave={(words) => change({ title: words }, t('Renamed to “{words}”', { words }))}
        />
      </h1>
      <InPlace
        text={description}
        label={t('Description')}
        placeholder={t('Add a description')}
        maxLength={2000}
        long
        onSave={(words) => change({ description: words }, words === '' ? t('Description removed') : t('Description saved'))}
      />
      <p className="track-by" dir="auto">
        {facts.filter(Boolean).join(' · ')}
      </p>
    </>
  );
}

function NoSuchPlaylist() {
  return (
    <Empty icon={ListMusic} title={t('This playlist is not here')}>
      <p>{t('It was deleted, or the address is wrong.')}</p>
      <Link className="button" href="/playlists">
        {t('All playlists')}
      </Link>
    </Empty>
  );
}
