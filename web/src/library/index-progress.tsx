// How far the index has come, and what is in its way.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { stepsAreBusy, useIndexStatus } from '../api/queries';
import type { IngestStatus } from '../api/types';
import { msg, plural, t } from '../i18n';
import { rich } from '../i18n/rich';

const STEPS = { lyrics: msg('Lyrics'), features: msg('Sound'), describe: msg('Meaning'), index: msg('Search') };
const isStep = (step: string): step is keyof typeof STEPS => step in STEPS;

const nameOf = (step: string): string => (isStep(step) ? t(STEPS[step]) : step);

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
      {status.pending > 0 && <progress max={status.tracks + status.pending} value={status.tracks} aria-label={t('Reading')} />}
      {stepsAreBusy(status) && status.steps && <Steps steps={status.steps} />}
      {status.failures && status.failures.length > 0 && <Failures failures={status.failures} />}
    </div>
  );
}

function summary({ tracks, pending, failed = 0, lookingFor = 0 }: IngestStatus): string {
  const indexed =
    pending > 0
      ? plural(tracks + pending, 'Reading: {done} of {n} track', 'Reading: {done} of {n} tracks', { done: tracks })
      : plural(tracks, '{n} track can be searched', '{n} tracks can be searched');
  const looking = lookingFor > 0 && plural(lookingFor, 'looking for {n} more', 'looking for {n} more');
  return [indexed, looking, failed > 0 && plural(failed, '{n} step failed', '{n} steps failed')].filter(Boolean).join(' · ');
}

function Steps({ steps }: { steps: NonNullable<IngestStatus['steps']> }) {
  return (
    <dl className="steps">
      {Object.entries(steps)
        .map(([step, { done, waiting, running }]) => ({ step, done, all: done + waiting + running }))
        .filter(({ all }) => all > 0)
        .map(({ step, done, all }) => (
          <div key={step}>
            <dt>{nameOf(step)}</dt>
            <dd>{t('{n} of {all}', { n: done, all })}</dd>
          </div>
        ))}
    </dl>
  );
}

function Failures({ failures }: { failures: NonNullable<IngestStatus['failures']> }) {
  return (
    <details>
      <summary>{t('What failed, and why')}</summary>
      <ul className="plain-rows">
        {failures.map(({ isrc, title, artist, step, reason }) => (
          <li key={`${isrc} ${step}`}>
            {rich('{title} by {artist}. {step}: {reason}', { title: <strong>{title}</strong>, artist, step: nameOf(step), reason })}
          </li>
        ))}
      </ul>
    </details>
  );
}
