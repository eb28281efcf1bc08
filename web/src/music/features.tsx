// How a track sounds, as small bars a person can compare at a glance.
import type { AudioFeatures } from '../api/types';
import { msg, t } from '../i18n';
import './features.css';
import { decimal, percent } from '../ui/format';

const BARS: { key: keyof AudioFeatures; label: string }[] = [
  { key: 'energy', label: msg('Energy') },
  { key: 'valence', label: msg('Brightness') },
  { key: 'danceability', label: msg('Danceable') },
  { key: 'acousticness', label: msg('Acoustic') },
  { key: 'instrumentalness', label: msg('Instrumental') },
  { key: 'liveness', label: msg('Live') },
  { key: 'speechiness', label: msg('Spoken') },
];
const KEYS = [msg('C'), msg('C♯'), msg('D'), msg('E♭'), msg('E'), msg('F'), msg('F♯'), msg('G'), msg('A♭'), msg('A'), msg('B♭'), msg('B')];

/** `high valence (0.69)` in the words of the bars. What has no bar is shown as the server says it. */
export function featureWords(text: string): string {
  const [, name, value] = /^(?:low|high) (\w+) \(([\d.]+)\)$/.exec(text) ?? [];
  const bar = BARS.find(({ key }) => key === name);
  return bar && value !== undefined ? `${t(bar.label)} ${percent(Number(value))}` : text;
}

export function Features({ features }: { features: AudioFeatures }) {
  const facts = factsOf(features);
  return (
    <div className="features">
      <dl className="feature-bars">
        {BARS.map(({ key, label }) => {
          const value = features[key];
          if (value == null) return null;
          const share = Math.min(1, Math.max(0, value));
          return (
            <div key={key} className="feature">
              <dt>{t(label)}</dt>
              <dd>
                <span className="feature-bar" aria-hidden="true">
                  <span style={{ width: `${Math.round(share * 100)}%` }} />
                </span>
                <span className="feature-value">{percent(share)}</span>
              </dd>
            </div>
          );
        })}
      </dl>
      {facts.length > 0 && (
        <p className="feature-facts">
          {facts.map(({ text, hint }) => (
            <span key={text} className="chip" title={hint}>
              {text}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

export function factsOf({ tempo, key, mode, loudness }: AudioFeatures): { text: string; hint: string }[] {
  const facts: { text: string; hint: string }[] = [];
  if (tempo != null) facts.push({ text: t('Tempo: {n} BPM', { n: Math.round(tempo) }), hint: t('Beats per minute') });
  const tonic = key == null ? undefined : KEYS[key];
  if (tonic) facts.push({ text: t('Key: {key}', { key: scaleOf(t(tonic), mode) }), hint: t('The scale that the melody is built on') });
  if (loudness != null) facts.push({ text: t('Loudness: {n} dB', { n: decimal(loudness) }), hint: t('Decibels; 0 is the loudest') });
  return facts;
}

function scaleOf(tonic: string, mode: AudioFeatures['mode']): string {
  if (mode == null) return tonic;
  return mode === 1 ? t('{tonic} major', { tonic }) : t('{tonic} minor', { tonic });
}
