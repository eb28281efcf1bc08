// One album in a list of results; its tracks are fetched when someone wants to see them.
import { BookmarkCheck, ChevronDown } from 'lucide-react';
import { useId, useState } from 'react';
import { useAlbumTracks } from '../api/queries';
import type { AlbumResult } from '../api/types';
import { t } from '../i18n';
import { count } from '../ui/format';
import { Failed, SkeletonRows } from '../ui/states';
import { AddButton } from './add-button';
import { Artwork, coverOf } from './artwork';
import { TrackRows } from './track-rows';

export function AlbumRow({ album }: { album: AlbumResult }) {
  const [open, setOpen] = useState(false);
  const tracksId = useId();
  const facts = [album.artist, album.releaseDate?.slice(0, 4), count(album.trackCount, 'track')].filter(Boolean);
  return (
    <li className="track" data-open={open}>
      <button
        type="button"
        className="track-head"
        aria-expanded={open}
        aria-controls={open ? tracksId : undefined}
        onClick={() => setOpen(!open)}
      >
        <Artwork seed={coverOf({ artist: album.artist, title: album.title })} url={album.artworkUrl} />
        <span className="track-names">
          <span className="track-title" dir="auto">
            {album.title}
          </span>
          <span className="track-by" dir="auto">
            {facts.join(' · ')}
          </span>
        </span>
        {album.inLibrary && (
          <span className="track-marks">
            <span className="chip good">
              <BookmarkCheck size={11} aria-hidden /> {t('In library')}
            </span>
          </span>
        )}
        <ChevronDown className="track-chevron" size={16} aria-hidden />
      </button>
      {open && (
        <div id={tracksId} className="album-tracks">
          <AlbumTracks albumId={album.id} />
          {!album.inLibrary && (
            <p className="album-add">
              <AddButton title={album.title} owned={false} what={{ albumId: album.id }} />
            </p>
          )}
        </div>
      )}
    </li>
  );
}

function AlbumTracks({ albumId }: { albumId: string }) {
  const { data, error, refetch } = useAlbumTracks(albumId);
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={3} height={44} label={t('Loading the album')} />;
  return <TrackRows tracks={data.tracks} numbered />;
}
