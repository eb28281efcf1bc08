// How a track sounds, as small bars a person can compare at a glance.
import type { AudioFeatures } from '../api/types';
import './features.css';

const BARS: { key: keyof AudioFeatures; label: string }[] = [
  { key: 'energy', label: 'Energy' },
  { key: 'valence', label: 'Brightness' },
  { key: 'danceability', label: 'Danceable' },
  { key: 'acousticness', label: 'Acoustic' },
  { key: 'instrumentalness', label: 'Instrumental' },
  { key: 'liveness', label: 'Live' },
  { key: 'speechiness', label: 'Spoken' },
];
const KEYS = ['C', 'C♯', 'D', 'E♭', 'E', 'F', 'F♯', 'G', 'A♭', 'A', 'B♭', 'B'];

export function Features({ features }: { features: AudioFeatures }) {
  const facts = factsOf(features);
  return (
    <div className="features">
      <dl className="feature-bars">
        {BARS.map(({ key, label }) => {
          const value = features[key];
          if (value == null) return null;
          const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
          return (
            <div key={key} className="feature">
              <dt>{label}</dt>
              <dd>
                <span className="feature-bar" aria-hidden="true">
                  <span style={{ width: `${percent}%` }} />
                </span>
                <span className="feature-value">{percent}%</span>
              </dd>
            </div>
          );
        })}
      </dl>
      {facts.length > 0 && (
        <p className="feature-facts">
          {facts.map((fact) => (
            <span key={fact} className="chip">
              {fact}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

export function factsOf({ tempo, key, mode, loudness }: AudioFeatures): string[] {
  const facts: string[] = [];
  if (tempo != null) facts.push(`${Math.round(tempo)} BPM`);
  const tonic = key == null ? undefined : KEYS[key];
  if (tonic) facts.push(mode == null ? tonic : `${tonic} ${mode === 1 ? 'major' : 'minor'}`);
  if (loudness != null) facts.push(`${loudness.toFixed(1)} dB`);
  return facts;
}
