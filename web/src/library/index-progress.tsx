// How far the index has come.
import { useIndexStatus } from '../api/queries';
import { count } from '../ui/format';

export function IndexProgress() {
  const { data: index } = useIndexStatus();
  if (!index) return null;
  const whole = index.tracks + index.pending;
  return (
    <div className="index-progress">
      <p>
        {index.pending > 0 ? `Indexing: ${index.tracks.toLocaleString('en')} of ${count(whole, 'track')}` : `${count(index.tracks, 'track')} can be searched by meaning`}
      </p>
      {index.pending > 0 && <progress max={whole} value={index.tracks} aria-label="Indexing" />}
    </div>
  );
}
