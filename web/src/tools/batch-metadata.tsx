// `batchMetadata`: the tracks with these codes, and the codes that no source knows.
import { ScanBarcode } from 'lucide-react';
import type { BatchMetadataOutput } from '../api/types';
import { TrackRows } from '../music/track-rows';
import { count } from '../ui/format';
import type { CardSpec } from './spec';

export const batchMetadata: CardSpec = {
  icon: ScanBarcode,
  title: (input, running) => {
    const { isrcs } = (input ?? {}) as { isrcs?: unknown };
    const what = Array.isArray(isrcs) ? count(isrcs.length, 'track') : 'tracks';
    return `${running ? 'Looking up' : 'Looked up'} ${what}`;
  },
  Body: ({ output, old }) => {
    const { tracks, notFound = [], invalid = [] } = output as unknown as BatchMetadataOutput;
    const reasons = new Map(invalid.map(({ isrc, reason }) => [isrc, reason]));
    return (
      <>
        <TrackRows tracks={tracks} old={old} />
        {notFound.length > 0 && <p className="label">Not found</p>}
        {notFound.map((isrc) => (
          <p key={isrc} className="tool-note">
            <code>{isrc}</code>
            {reasons.has(isrc) && ` ${reasons.get(isrc)}`}
          </p>
        ))}
      </>
    );
  },
};
