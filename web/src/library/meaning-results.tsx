// Search by what songs are about, outside of any conversation.
import { AudioLines } from 'lucide-react';
import { useSearchByMeaning } from '../api/queries';
import type { IndexedTrackResult, SemanticSearchOutput } from '../api/types';
import { plural, t } from '../i18n';
import { Incomplete } from '../music/incomplete';
import { TrackRow } from '../music/track-row';
import { AppliedLimits } from '../tools/applied-limits';
import { Empty, Failed, SkeletonRows } from '../ui/states';

export function MeaningResults({ q, onSearch }: { q: string; onSearch: (words: string) => void }) {
  const { data, error, refetch } = useSearchByMeaning(q);
  if (q === '') {
    return (
      <Empty icon={AudioLines} title={t('Search by meaning')}>
        <p>{t('Describe a mood, a story or an image. Lyrics, interpretations and sound are searched together.')}</p>
      </Empty>
    );
  }
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={6} label={t('Searching')} />;
  return (
    <>
      <p className="library-count" role="status">
        {headOf(data)}
      </p>
      <AppliedLimits query={data.query} applied={data.applied} again={{ words: data.query, ask: onSearch }} />
      <Rows label={t('Found')} tracks={data.tracks} />
      <Rows label={t('Nearest')} tracks={data.nearest ?? []} />
      <Incomplete of="index" when={data.isIncomplete} />
    </>
  );
}

function headOf({ nearest, tracks: { length: n }, totalFound }: SemanticSearchOutput): string {
  if (nearest?.length) return t('Nothing really fits. This comes nearest:');
  if (n === 0) return t('Nothing found.');
  return totalFound > n ? t('The best {n} of {all}.', { n, all: totalFound }) : plural(n, '{n} found', '{n} found');
}

function Rows({ label, tracks }: { label: string; tracks: IndexedTrackResult[] }) {
  if (tracks.length === 0) return null;
  return (
    <ol className="track-box" aria-label={label}>
      {tracks.map((track) => (
        <TrackRow key={track.trackId} track={track} />
      ))}
    </ol>
  );
}
