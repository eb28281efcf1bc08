// `tidalSearch`: albums and tracks of the catalogue; those in the user's library are marked.
import { Disc3 } from 'lucide-react';
import type { TidalSearchOutput } from '../api/types';
import { AlbumRow } from '../music/album-row';
import { TrackRows } from '../music/track-rows';
import { ShortList } from '../ui/short-list';
import { field, quoted, type CardSpec } from './spec';

export const tidalSearch: CardSpec = {
  icon: Disc3,
  counts: true,
  title: (input, running) => {
    const query = field(input, 'query');
    const verb = running ? 'Searching' : 'Searched';
    return query ? `${verb} the Tidal catalogue for ${quoted(query)}` : `${verb} the Tidal catalogue`;
  },
  Body: ({ output, old }) => {
    const found = output as unknown as TidalSearchOutput;
    const [albums, tracks] = [found.albums ?? [], found.tracks ?? []];
    return (
      <>
        {albums.length > 0 && <p className="label">Albums</p>}
        <ShortList items={albums} first={4} render={(album) => <AlbumRow key={album.id} album={album} />} />
        {tracks.length > 0 && <p className="label">Tracks</p>}
        <TrackRows tracks={tracks} old={old} />
      </>
    );
  },
};
