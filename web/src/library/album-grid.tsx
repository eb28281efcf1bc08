// The albums of your library, cover by cover.
import { Disc3 } from 'lucide-react';
import { useAlbums } from '../api/queries';
import type { TrackSort } from '../api/types';
import { Artwork } from '../music/artwork';
import { count } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';

export function AlbumGrid({ q, sort, onOpen }: { q: string; sort: TrackSort; onOpen: (id: string) => void }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useAlbums(q, sort);
  const albums = data?.pages.flatMap((page) => page.albums) ?? [];

  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} height={120} label="Loading albums" />;
  if (albums.length === 0) {
    return (
      <Empty icon={Disc3} title={q ? 'No such album' : 'No albums yet'}>
        <p>{q ? `No album or artist contains “${q}”.` : 'Albums you add appear here.'}</p>
      </Empty>
    );
  }
  return (
    <>
      <p className="library-count">{count(data.pages[0]?.total ?? albums.length, 'album')}</p>
      <ul className="album-grid">
        {albums.map((album) => (
          <li key={album.id}>
            <button type="button" className="album" onClick={() => onOpen(album.id)}>
              <Artwork seed={album.id} url={album.artworkUrl} size={400} />
              <span className="track-title">{album.title}</span>
              <span className="track-by">{[album.artist, album.releaseDate?.slice(0, 4)].filter(Boolean).join(' · ')}</span>
            </button>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <p className="more">
          <button type="button" className="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
