// `semanticSearch`: tracks of the index, and why each of them matched.
import { AudioLines } from 'lucide-react';
import type { SemanticSearchOutput } from '../api/types';
import { t } from '../i18n';
import { TrackRows } from '../music/track-rows';
import { field, quoted, type CardSpec } from './spec';

export const semanticSearch: CardSpec = {
  icon: AudioLines,
  counts: true,
  title: (input, running) => {
    const query = field(input, 'query');
    if (query === '') return running ? t('Searching your library') : t('Searched your library');
    const words = { query: quoted(query) };
    return running ? t('Searching your library for {query}', words) : t('Searched your library for {query}', words);
  },
  Body: ({ output, old }) => {
    const { tracks, totalFound } = output as unknown as SemanticSearchOutput;
    return (
      <>
        <TrackRows tracks={tracks} old={old} />
        {totalFound > tracks.length && <p className="tool-note">{t('The best {n} of {all}.', { n: tracks.length, all: totalFound })}</p>}
      </>
    );
  },
};
