// `tidalSearch`: albums and tracks of the catalogue; those in the user's library are marked.
import { Disc3 } from 'lucide-react';
import type { TidalSearchOutput } from '../api/types';
import { t } from '../i18n';
import { AlbumRow } from '../music/album-row';
import { Incomplete } from '../music/incomplete';
import { TrackRows } from '../music/track-rows';
import { ShortList } from '../ui/short-list';
import { field, quoted, type CardSpec } from './spec';

export const tidalSearch: CardSpec = {
  icon: Disc3,
  counts: true,
  title: (input, running) => {
    const query = field(input, 'query');
    if (query === '') return running ? t('Searching the Tidal catalogue') : t('Searched the Tidal catalogue');
    const words = { query: quoted(query) };
    return running ? t('Searching the Tidal catalogue for {query}', words) : t('Searched the Tidal catalogue for {query}', words);
  },
  Body: ({ output, old }) => {
    const found = output as unknown as TidalSearchOutput;
    const [albums, tracks] = [found.albums ?? [], found.tracks ?? []];
    return (
      <>
        {albums.length > 0 && <p className="label">{t('Albums')}</p>}
        <ShortList items={albums} first={4} render={(album) => <AlbumRow key={album.id} album={album} />} />
        {tracks.length > 0 && <p className="label">{t('Tracks')}</p>}
        <TrackRows tracks={tracks} old={old} />
        <Incomplete of="tidal" when={found.isIncomplete} />
      </>
    );
  },
};
