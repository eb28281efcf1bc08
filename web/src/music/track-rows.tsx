// The tracks of a card, the first few of them open to view.
import type { IndexedTrackResult } from '../api/types';
import { ShortList } from '../ui/short-list';
import { TrackRow } from './track-row';

interface Props {
  tracks: (IndexedTrackResult & { reasoning?: string })[];
  /** Their order means something: an album's, a playlist's. */
  numbered?: boolean;
}

export function TrackRows({ tracks, numbered = false }: Props) {
  return (
    <ShortList
      items={tracks}
      first={8}
      render={(track, row) => (
        <TrackRow key={`${track.isrc} ${row}`} track={track} reason={track.reasoning} number={numbered ? row + 1 : undefined} />
      )}
    />
  );
}
