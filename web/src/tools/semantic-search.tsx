// `semanticSearch`: tracks of the index, and why each of them matched.
import { AudioLines } from 'lucide-react';
import { useContext } from 'react';
import type { SemanticSearchOutput } from '../api/types';
import { AskAgainContext } from '../chat/ask-again';
import { t } from '../i18n';
import { Incomplete } from '../music/incomplete';
import { TrackRows } from '../music/track-rows';
import { AppliedLimits } from './applied-limits';
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
    const { tracks, totalFound, query, applied = [], isIncomplete } = output as unknown as SemanticSearchOutput;
    const again = useContext(AskAgainContext);
    return (
      <>
        <AppliedLimits query={query} applied={applied} again={again} />
        <TrackRows tracks={tracks} old={old} />
        {totalFound > tracks.length && <p className="tool-note">{t('The best {n} of {all}.', { n: tracks.length, all: totalFound })}</p>}
        <Incomplete of="index" when={isIncomplete} />
      </>
    );
  },
};
