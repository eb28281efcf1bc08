// How far the index has come, and what is in its way.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { stepsAreBusy, useIndexStatus } from '../api/queries';
import type { IngestStatus } from '../api/types';
import { count } from '../ui/format';

const STEPS = { lyrics: 'Lyrics', features: 'Sound', describe: 'Meaning', index: 'Search' };
const isStep = (step: string): step is keyof typeof STEPS => step in STEPS;

export function IndexProgress() {
  const { data: status } = useIndexStatus();
  const queries = useQueryClient();
  const { tracks, lookingFor } = status ?? {};
  useEffect(() => {
    // Rows say whether they are indexed, and entries are found in the background: what has moved is looked at again.
    for (const kind of ['tracks', 'open']) void queries.invalidateQueries({ queryKey: ['library', kind] });
  }, [queries, tracks, lookingFor]);

  if (!status) return null;
  return (
    <div className="index-progress">
      <p>{summary(status)}</p>
      {status.pending > 0 && <progress max={status.tracks + status.pending} value={status.tracks} aria-label="Indexing" />}
      {stepsAreBusy(status) && status.steps && <Steps steps={status.steps} />}
      {status.failures && status.failures.length > 0 && <Failures failures={status.failures} />}
    </div>
  );
}

function summary({ tracks, pending, failed = 0, lookingFor = 0 }: IngestStatus): string {
  const indexed =
    pending > 0
      ? `Indexing: ${tracks.toLocaleString('en')} of ${count(tracks + pending, 'track')}`
      : `${count(tracks, 'track')} can be searched`;
  const looking = lookingFor > 0 && `looking for ${lookingFor.toLocaleString('en')} more`;
  return [indexed, looking, failed > 0 && `${count(failed, 'step')} failed`].filter(Boolean).join(' · ');
}

function Steps({ steps }: { steps: NonNullable<IngestStatus['steps']> }) {
  return (
    <dl className="steps">
      {Object.entries(steps).map(([step, { done, waiting, running }]) => (
        <div key={step}>
          <dt>{isStep(step) ? STEPS[step] : step}</dt>
          <dd>
            {done.toLocaleString('en')} of {(done + waiting + running).toLocaleString('en')}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Failures({ failures }: { failures: NonNullable<IngestStatus['failures']> }) {
  return (
    <details>
      <summary>What failed, and why</summary>
      <ul className="plain-rows">
        {failures.map(({ isrc, title, artist, step, reason }) => (
          <li key={`${isrc} ${step}`}>
            <strong>{title}</strong> by {artist}. {isStep(step) ? STEPS[step] : step}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
