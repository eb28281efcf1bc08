// Tracks inside a card: the first few at once, the rest for whoever asks. No box that scrolls inside a page that scrolls.
import { useState } from 'react';
import type { IndexedTrackResult } from '../api/types';
import { TrackRow } from './track-row';

const FIRST = 8;

interface Props {
  tracks: (IndexedTrackResult & { reasoning?: string })[];
  /** Their order means something: an album's, a playlist's. */
  numbered?: boolean;
}

export function TrackRows({ tracks, numbered = false }: Props) {
  const [all, setAll] = useState(false);
  const shown = all ? tracks : tracks.slice(0, FIRST);
  return (
    <>
      <ol>
        {shown.map((track, row) => (
          <TrackRow key={`${track.isrc} ${row}`} track={track} reason={track.reasoning} number={numbered ? row + 1 : undefined} />
        ))}
      </ol>
      {tracks.length > FIRST && (
        <p className="track-rest">
          <button type="button" className="button small quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Show the first ${FIRST}` : `Show all ${tracks.length}`}
          </button>
        </p>
      )}
    </>
  );
}
