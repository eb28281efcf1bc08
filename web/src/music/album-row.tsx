// One album in a list of results.
import { BookmarkCheck } from 'lucide-react';
import type { AlbumResult } from '../api/types';
import { count } from '../ui/format';
import { Artwork } from './artwork';

export function AlbumRow({ album }: { album: AlbumResult }) {
  return (
    <li className="track">
      <div className="track-head static">
        <Artwork seed={album.id} url={album.artworkUrl} />
        <span className="track-names">
          <span className="track-title">{album.title}</span>
          <span className="track-by">
            {album.artist} · {[album.releaseDate?.slice(0, 4), count(album.trackCount, 'track')].filter(Boolean).join(' · ')}
          </span>
        </span>
        {album.inLibrary && (
          <span className="track-marks">
            <span className="chip good">
              <BookmarkCheck size={11} aria-hidden /> In library
            </span>
          </span>
        )}
      </div>
    </li>
  );
}
