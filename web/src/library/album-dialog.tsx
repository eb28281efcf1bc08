// One album: of the library, or of the catalogue with a way to add it.
import { Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client';
import { takeBack } from '../api/playlist-queries';
import { removeAlbum, removeTracks, restoreAlbum, useAlbum, useAlbums, useAlbumTracks } from '../api/queries';
import type { OpenAlbum } from '../api/types';
import { t } from '../i18n';
import { AddButton } from '../music/add-button';
import { Artwork, coverOf } from '../music/artwork';
import { TrackRow } from '../music/track-row';
import { TrackRows } from '../music/track-rows';
import { Dialog } from '../ui/dialog';
import { count, shortDate } from '../ui/format';
import { SkeletonRows } from '../ui/states';
import { Missing, useRemoval } from './details';

interface Props {
  onClose: () => void;
}

/** An album that a text or a track names: its id is looked up. */
export function NamedAlbumDialog({ title, by, onClose }: Props & { title: string; by: string }) {
  const { data, error, isPlaceholderData } = useAlbums(title);
  const same = data?.filter((album) => isSame(album.title, title)) ?? [];
  // Tracks of one album may name their guests as artists too.
  const found = same.find(({ artist }) => isSame(artist, by)) ?? (same.length === 1 ? same[0] : undefined);
  if (found) return <AlbumDialog id={found.id} onClose={onClose} />;
  const isKnown = error !== null || (data !== undefined && !isPlaceholderData);
  return (
    <Dialog title={title} hideTitle onClose={onClose}>
      {isKnown ? <Missing title={t('This album is not here')} error={error} /> : <Loading />}
    </Dialog>
  );
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
const Loading = () => <SkeletonRows rows={6} label={t('Loading the album')} />;

export function AlbumDialog({ id, onClose }: Props & { id: string }) {
  const { data: album, error } = useAlbum(id);
  const isOfCatalogue = error instanceof ApiError && error.status === 404 && !isOfTracks(id);
  return (
    <Dialog title={album?.title ?? t('Album')} hideTitle onClose={onClose}>
      {isOfCatalogue && <CatalogueAlbum id={id} />}
      {error && !isOfCatalogue && <Missing title={t('This album is not here')} error={error} />}
      {!album && !error && <Loading />}
      {album && <OwnAlbum album={album} onClose={onClose} />}
    </Dialog>
  );
}

function OwnAlbum({ album, onClose }: Props & { album: OpenAlbum }) {
  const removal = useRemoval(onClose);
  const remove = () => {
    let back: () => Promise<unknown> = () => Promise.resolve();
    void removal(
      album.title,
      async () => (back = await removeWhole(album)),
      () => back(),
    );
  };
  return (
    <>
      <Sleeve title={album.title} artist={album.artist} artworkUrl={album.artworkUrl}>
        {[album.releaseDate && shortDate(album.releaseDate), count(album.trackCount, 'track')].filter(Boolean).join(' · ')}
      </Sleeve>
      <ol className="sleeve-tracks">
        {album.tracks.map((track, row) => (
          <TrackRow key={`${track.isrc} ${row}`} track={track} number={row + 1} />
        ))}
      </ol>
      {album.inLibrary && (
        <button type="button" className="button danger small sleeve-remove" onClick={remove}>
          <Trash2 size={14} aria-hidden /> {t('Remove from library')}
        </button>
      )}
    </>
  );
}

/** Not in the library; an answer may still name it. */
function CatalogueAlbum({ id }: { id: string }) {
  const { data: album, error } = useAlbumTracks(id);
  if (error) return <Missing title={t('This album is not here')} error={error} />;
  if (!album) return <Loading />;
  return (
    <>
      <Sleeve title={album.albumTitle} artist={album.artist} artworkUrl={album.tracks[0]?.artworkUrl}>
        {count(album.tracks.length, 'track')}
      </Sleeve>
      <p>
        <AddButton title={album.albumTitle} owned={false} what={{ albumId: id }} />
      </p>
      <TrackRows tracks={album.tracks} numbered />
    </>
  );
}

interface SleeveProps {
  title: string;
  artist: string;
  artworkUrl?: string | null;
  children: ReactNode;
}

function Sleeve({ title, artist, artworkUrl, children }: SleeveProps) {
  return (
    <header className="sleeve">
      <Artwork seed={coverOf({ artist, title })} url={artworkUrl} size={112} />
      <div>
        <p className="sleeve-title" dir="auto">
          {title}
        </p>
        <p dir="auto">{artist}</p>
        <p className="sleeve-facts">{children}</p>
      </div>
    </header>
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
