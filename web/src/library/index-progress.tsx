// How far the index has come, and what it could not read and why.
import { useIndexStatus } from '../api/queries';
import { count } from '../ui/format';

export function IndexProgress() {
  const { data: index } = useIndexStatus();
  if (!index) return null;
  const failed = index.failed ?? 0;
  const whole = index.tracks + index.pending;
  return (
    <div className="index-progress">
      <p>
        {index.pending > 0 ? `Indexing: ${index.tracks.toLocaleString('en')} of ${count(whole, 'track')}` : `${count(index.tracks, 'track')} indexed`}
        {failed > 0 && ` · ${failed.toLocaleString('en')} failed`}
      </p>
      {index.pending > 0 && <progress max={whole} value={index.tracks} aria-label="Indexing" />}
      {index.failures && index.failures.length > 0 && (
        <details>
          <summary>What failed</summary>
          <ul>
            {index.failures.map(({ isrc, title, reason }) => (
              <li key={isrc}>
                {title ?? isrc}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
