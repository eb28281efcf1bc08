// The tracks of an answer: the best few open to view, the rest in place.
import type { IndexedTrackResult } from '../api/types';
import { ShortList } from '../ui/short-list';
import { distinct } from './reasons';
import { TrackRow } from './track-row';

interface Props {
  tracks: (IndexedTrackResult & { reasoning?: string })[];
  /** Their order means something: an album's, a playlist's. */
  numbered?: boolean;
  old?: boolean;
}

const FIRST = 5;
/** Three rows and the question above them fit on a phone. */
const FIRST_ON_A_PHONE = 3;

export function TrackRows({ tracks, numbered = false, old }: Props) {
  const first = window.matchMedia('(max-width: 640px)').matches ? FIRST_ON_A_PHONE : FIRST;
  const reasons = distinct(tracks.map(({ reasoning }) => reasoning));
  return (
    <ShortList
      items={tracks}
      first={first}
      render={(track, row) => (
        <TrackRow key={`${track.isrc} ${row}`} track={track} reason={reasons[row]} number={numbered ? row + 1 : undefined} old={old} />
      )}
    />
  );
}
