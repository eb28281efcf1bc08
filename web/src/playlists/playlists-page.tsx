// Saved playlists: one reason per track, and a way out to any player.
import { ArrowLeft, Download, ListMusic, Trash2 } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { ApiError } from '../api/client';
import { deletePlaylist, restorePlaylist, useChanged, usePlaylist, usePlaylists } from '../api/queries';
import type { OpenPlaylist, PlaylistFormat, PlaylistLine } from '../api/types';
import { Artwork } from '../music/artwork';
import { distinct } from '../music/reasons';
import { TrackRow } from '../music/track-row';
import { usePageTitle } from '../shell/page-title';
import { clock, count, shortDate } from '../ui/format';
import { Menu } from '../ui/menu';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import './playlists.css';

export default function PlaylistsPage() {
  const [search, setSearch] = useSearchParams();
  const changed = useChanged();
  const id = search.get('id');

  const remove = async (playlist: OpenPlaylist) => {
    // Leave its page first: what is deleted must not be asked for again.
    setSearch({});
    try {
      await deletePlaylist(playlist.id);
    } catch (error) {
      return toastError(error);
    }
    changed('playlists');
    toast(`Deleted “${playlist.title}”`, { undo: () => restorePlaylist(playlist.id).then(() => changed('playlists')) });
  };

  return (
    <div className="page">
      <div className="page-inner">{id ? <OnePlaylist id={id} onRemove={(playlist) => void remove(playlist)} /> : <AllPlaylists />}</div>
    </div>
  );
}

function AllPlaylists() {
  usePageTitle('Playlists');
  const { data, error, refetch } = usePlaylists();
  return (
    <>
      <header className="page-head">
        <h1>Playlists</h1>
      </header>
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={4} height={76} label="Loading playlists" />}
      {data?.length === 0 && (
        <Empty icon={ListMusic} title="No playlists yet">
          <p>Ask Discover to put one together; it is saved here with a reason for every track.</p>
          <Link className="button" href="/">
            Ask Discover
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
      </span>
    </Link>
  );
}

function OnePlaylist({ id, onRemove }: { id: string; onRemove: (playlist: OpenPlaylist) => void }) {
  const { data: playlist, error, refetch } = usePlaylist(id);
  usePageTitle(playlist?.title ?? 'Playlist');
  if (error instanceof ApiError && error.status === 404) return <NoSuchPlaylist />;
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!playlist) return <SkeletonRows rows={6} label="Loading the playlist" />;
  const reasons = distinct(playlist.tracks.map(({ reasoning }) => reasoning));
  const length = playlist.tracks.reduce((seconds, track) => seconds + (track.duration ?? 0), 0);
  return (
    <>
      <header className="playlist-head">
        <Artwork seed={playlist.id} size={132} />
        <div>
          <p className="playlist-back">
            <Link href="/playlists">
              <ArrowLeft size={14} aria-hidden /> Playlists
            </Link>
          </p>
          <h1 dir="auto">{playlist.title}</h1>
          <p className="track-by" dir="auto">
            {[count(playlist.tracks.length, 'track'), length > 0 && clock(length), shortDate(playlist.createdAt)]
              .filter(Boolean)
              .join(' · ')}
          </p>
          <div className="playlist-actions">
            <ExportMenu playlist={playlist} />
            <button type="button" className="button quiet danger" onClick={() => onRemove(playlist)}>
              <Trash2 size={16} aria-hidden /> Delete
            </button>
          </div>
        </div>
      </header>
      <ol className="track-box">
        {playlist.tracks.map((track, row) => (
          <TrackRow key={`${track.isrc} ${row}`} track={track} reason={reasons[row]} number={row + 1} />
        ))}
      </ol>
    </>
  );
}

function NoSuchPlaylist() {
  return (
    <Empty icon={ListMusic} title="This playlist is not here">
      <p>It was deleted, or the address is wrong.</p>
      <Link className="button" href="/playlists">
        All playlists
      </Link>
    </Empty>
  );
}

const FORMATS: { format: PlaylistFormat; label: string }[] = [
  { format: 'm3u8', label: 'M3U8, for players' },
  { format: 'xspf', label: 'XSPF, open format' },
  { format: 'jspf', label: 'JSPF, for ListenBrainz' },
  { format: 'csv', label: 'CSV, for spreadsheets' },
];

function ExportMenu({ playlist }: { playlist: OpenPlaylist }) {
  const download = (format: PlaylistFormat) => {
    const link = document.createElement('a');
    link.href = `/api/playlists/${playlist.id}?format=${format}`;
    link.download = `${playlist.title}.${format}`;
    link.click();
  };
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="button primary">
          <Download size={16} aria-hidden /> Export
        </button>
      }
      items={FORMATS.map(({ format, label }) => ({ label, icon: Download, onSelect: () => download(format) }))}
    />
  );
}
