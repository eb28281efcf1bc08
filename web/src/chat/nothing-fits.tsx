// A search found nothing: what to ask instead, made from the limits it had and from what came nearest.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { post } from '../api/client';
import { useLibrarySize } from '../api/queries';
import type { SemanticSearchOutput } from '../api/types';
import { t } from '../i18n';
import { Incomplete } from '../music/incomplete';
import { limitLabel } from '../tools/limit-label';
import { distinctLimits, withoutLimit } from '../tools/without-limit';
import { AskNext, type Chip } from './ask-next';

interface Props {
  /** The input of the search. */
  input: unknown;
  /** The person's own words. */
  words: string;
  onAsk: (text: string) => void;
}

/** An empty result is sent without its output, so the same search says what was understood and what is near. */
export default function NothingFits({ input, words, onAsk }: Props) {
  const { data } = useQuery({
    queryKey: ['library', 'nothing', JSON.stringify(input)],
    queryFn: () => post<SemanticSearchOutput>('/api/tools/semanticSearch', input),
    retry: false,
  });
  const { data: owned } = useLibrarySize();
  // Something fits by now: the answer is older than the library.
  if (!data || data.tracks.length > 0) return null;
  const near = nearQuestions(data).map((text) => ({ text }));
  return (
    <>
      <Incomplete of="index" when={data.isIncomplete} />
      {owned === 0 && (
        <p className="tool-note">
          {t('Your library is empty.')} <Link href="/library">{t('Bring your music')}</Link>
        </p>
      )}
      <AskNext chips={[...widerSearches(words, data), ...near]} onAsk={onAsk} />
    </>
  );
}

/** One question for each limit: everything that was asked, without this limit. */
export function widerSearches(words: string, { query, applied }: SemanticSearchOutput): Chip[] {
  const limits = distinctLimits(applied).filter(({ kind }) => kind !== 'sound' && kind !== 'seed');
  return limits.flatMap((limit) => {
    const text = withoutLimit(words, query, applied, limit);
    return text === null ? [] : [{ text, without: limitLabel(limit.label) }];
  });
}

export function nearQuestions({ nearest = [] }: SemanticSearchOutput): string[] {
  const [first, second] = nearest;
  if (!first) return [];
  return [t('More like “{title}”', { title: first.title }), ...(second ? [t('Tell me about “{title}”', { title: second.title })] : [])];
}
