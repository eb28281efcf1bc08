// One track or album of the library, with everything known about it.
import { Disc3, Trash2 } from 'lucide-react';
import { Link } from 'wouter';
import { ApiError } from '../api/client';
import { takeBack } from '../api/playlist-queries';
import { removeAlbum, removeTrack, removeTracks, restoreAlbum, restoreTrack, useAlbum, useChanged, useTrack } from '../api/queries';
import type { OpenAlbum } from '../api/types';
import { t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { openTrack } from '../music/open-track';
import { setOwned, useOwned } from '../music/ownership';
import { TrackDetails } from '../music/track-details';
import { TrackMarks, TrackRow } from '../music/track-row';
import { Dialog } from '../ui/dialog';
import { clock, count, shortDate } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { Merged } from './merged';

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
              <p className="sleeve-facts">{[track.album, track.duration != null && clock(track.duration)].filter(Boolean).join(' · ')}</p>
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

/** The ids of albums that consist of one's tracks are UUIDs; those of the catalogue are not. */
const isOfTracks = (id: string) => /^[\da-f]{8}-[\da-f-]{27}$/.test(id);

/** Removes a saved album, or the tracks of an album that consists of them. Answers how to take it back. */
async function removeWhole({ id, tracks }: OpenAlbum): Promise<() => Promise<unknown>> {
  if (!isOfTracks(id)) {
    await removeAlbum(id);
    return () => restoreAlbum(id);
  }
  const { undoId } = await removeTracks(tracks.map(({ trackId }) => trackId));
  return () => takeBack(undoId);
}

export function AlbumDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: album, error } = useAlbum(id);
  const removal = useRemoval(onClose);
  return (
    <Dialog title={album?.title ?? t('Album')} hideTitle onClose={onClose}>
      {error && <Missing title={t('This album is not here')} error={error} />}
      {!album && !error && <SkeletonRows rows={6} label={t('Loading the album')} />}
      {album && (
        <>
          <header className="sleeve">
            <Artwork seed={coverOf({ artist: album.artist, title: album.title })} url={album.artworkUrl} size={112} />
            <div>
              <p className="sleeve-title" dir="auto">
                {album.title}
              </p>
              <p>{album.artist}</p>
              <p className="sleeve-facts">
                {[album.releaseDate && shortDate(album.releaseDate), count(album.trackCount, 'track')].filter(Boolean).join(' · ')}
              </p>
            </div>
          </header>
          <ol className="sleeve-tracks">
            {album.tracks.map((track, row) => (
              <TrackRow key={`${track.isrc} ${row}`} track={track} number={row + 1} />
            ))}
          </ol>
          {album.inLibrary && (
            <button
              type="button"
              className="button danger small sleeve-remove"
              onClick={() => {
                let back: () => Promise<unknown> = () => Promise.resolve();
                void removal(
                  album.title,
                  async () => (back = await removeWhole(album)),
                  () => back(),
                );
              }}
            >
              <Trash2 size={14} aria-hidden /> {t('Remove from library')}
            </button>
          )}
        </>
      )}
    </Dialog>
  );
}

function Missing({ title, error }: { title: string; error: unknown }) {
  if (!(error instanceof ApiError) || error.status !== 404) return <Failed error={error} />;
  return (
    <Empty icon={Disc3} title={title}>
      <p>{t('It may have been removed, or the address is wrong.')}</p>
    </Empty>
  );
}

function useRemoval(onClose: () => void) {
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
