// One track, with everything known about it.
import { Disc3, Trash2 } from 'lucide-react';
import { Link } from 'wouter';
import { ApiError } from '../api/client';
import { removeTrack, restoreTrack, useChanged, useTrack } from '../api/queries';
import { t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { openTrack } from '../music/open-track';
import { setOwned, useOwned } from '../music/ownership';
import { TrackDetails } from '../music/track-details';
import { TrackMarks } from '../music/track-row';
import { Dialog } from '../ui/dialog';
import { clock } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { Merged } from './merged';

const albumAddress = (title: string, artist: string) => `/library?${new URLSearchParams({ album: title, by: artist })}`;

export function TrackDialog({ isrc, onClose }: { isrc: string; onClose: () => void }) {
  const { data: track, error } = useTrack(isrc);
  const removal = useRemoval(onClose);
  const owned = useOwned(track ?? { isrc, title: '', inLibrary: false });
  return (
    <Dialog title={track?.title ?? t('Track')} hideTitle onClose={onClose}>
      {error && <Missing title={t('This track is not here')} error={error} />}
      {!track && !error && <SkeletonRows rows={4} label={t('Loading the track')} />}
      {track && (
        <>
          <header className="sleeve">
            <Artwork seed={coverOf(track)} url={track.artworkUrl} size={112} />
            <div>
              <p className="sleeve-title" dir="auto">
                {track.title}
              </p>
              <p dir="auto">
                {owned && track.artist ? (
                  <Link href={`/library?artist=${encodeURIComponent(track.artist)}`} onClick={() => openTrack(null)}>
                    {track.artist}
                  </Link>
                ) : (
                  track.artist
                )}
              </p>
              <p className="sleeve-facts">
                {owned && track.album ? (
                  <Link href={albumAddress(track.album, track.artist)} onClick={() => openTrack(null)} dir="auto">
                    {track.album}
                  </Link>
                ) : (
                  track.album
                )}
                {track.album && track.duration != null && ' · '}
                {track.duration != null && clock(track.duration)}
              </p>
              <TrackMarks inLibrary={owned} />
            </div>
          </header>
          <TrackDetails track={{ ...track, inLibrary: owned }} />
          {owned && track.trackId && <Merged trackId={track.trackId} />}
          {owned && (
            <button
              type="button"
              className="button danger small sleeve-remove"
              onClick={() =>
                void removal(
                  track.title,
                  () => removeTrack(isrc).then(() => setOwned(isrc, false)),
                  () => restoreTrack(isrc).then(() => setOwned(isrc, true)),
                )
              }
            >
              <Trash2 size={14} aria-hidden /> {t('Remove from library')}
            </button>
          )}
        </>
      )}
    </Dialog>
  );
}

/** Without an error it is not there either. */
export function Missing({ title, error }: { title: string; error: unknown }) {
  if (error && !(error instanceof ApiError && error.status === 404)) return <Failed error={error} />;
  return (
    <Empty icon={Disc3} title={title}>
      <p>{t('It may have been removed, or the address is wrong.')}</p>
    </Empty>
  );
}

export function useRemoval(onClose: () => void) {
  const changed = useChanged();
  return async (title: string, remove: () => Promise<unknown>, restore: () => Promise<unknown>) => {
    try {
      await remove();
    } catch (error) {
      return toastError(error);
    }
    onClose();
    changed('library');
    toast(t('Removed “{title}” from your library', { title }), { undo: () => restore().then(() => changed('library')) });
  };
}
