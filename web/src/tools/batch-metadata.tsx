// `batchMetadata`: the tracks with these codes, and the codes that no source knows.
import { ScanBarcode } from 'lucide-react';
import type { BatchMetadataOutput } from '../api/types';
import { plural, t } from '../i18n';
import { TrackRows } from '../music/track-rows';
import type { CardSpec } from './spec';

export const batchMetadata: CardSpec = {
  icon: ScanBarcode,
  title: (input, running) => {
    const { isrcs } = (input ?? {}) as { isrcs?: unknown };
    if (!Array.isArray(isrcs)) return running ? t('Looking up tracks') : t('Looked up tracks');
    const n = isrcs.length;
    return running ? plural(n, 'Looking up {n} track', 'Looking up {n} tracks') : plural(n, 'Looked up {n} track', 'Looked up {n} tracks');
  },
  Body: ({ output, old }) => {
    const { tracks, notFound = [], invalid = [] } = output as unknown as BatchMetadataOutput;
    const reasons = new Map(invalid.map(({ isrc, reason }) => [isrc, reason]));
    return (
      <>
        <TrackRows tracks={tracks} old={old} />
        {notFound.length > 0 && <p className="label">{t('Not found')}</p>}
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
