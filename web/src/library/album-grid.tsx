// The albums of your library, cover by cover.
import { Disc3 } from 'lucide-react';
import { useAlbums } from '../api/queries';
import type { AlbumEntry, LibrarySort } from '../api/types';
import { t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { count } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';

export function AlbumGrid({ q, sort, onOpen }: { q: string; sort: LibrarySort; onOpen: (id: string) => void }) {
  const { data, error, refetch } = useAlbums(q);
  const albums = sorted(data ?? [], sort);

  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} height={120} label={t('Loading albums')} />;
  if (albums.length === 0) {
    return (
      <Empty icon={Disc3} title={q ? t('No such album') : t('No albums yet')}>
        <p>
          {q
            ? t('No album or artist contains “{q}”.', { q })
            : t('Albums you add as a whole appear here; every single track is under “Tracks”.')}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <p className="library-count">{count(albums.length, 'album')}</p>
      <ul className="album-grid">
        {albums.map((album) => (
          <li key={album.id}>
            <button type="button" className="album" onClick={() => onOpen(album.id)}>
              <Artwork seed={coverOf({ artist: album.artist, title: album.title })} url={album.artworkUrl} size={400} />
              <span className="track-title" dir="auto">
                {album.title}
              </span>
              <span className="track-by" dir="auto">
                {[album.artist, album.releaseDate?.slice(0, 4)].filter(Boolean).join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The server lists the newest first; a list of albums is short enough to be sorted here. */
function sorted(albums: AlbumEntry[], sort: LibrarySort): AlbumEntry[] {
  if (sort === 'added') return albums;
  const key = sort === 'artist' ? 'artist' : 'title';
  return albums.toSorted((a, b) => a[key].localeCompare(b[key]));
}
