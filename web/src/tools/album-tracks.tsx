// `albumTracks`: one album, in playing order.
import { ListMusic } from 'lucide-react';
import type { AlbumTracksOutput } from '../api/types';
import { t } from '../i18n';
import { TrackRows } from '../music/track-rows';
import type { CardSpec } from './spec';

export const albumTracks: CardSpec = {
  icon: ListMusic,
  title: (_input, running) => (running ? t('Opening an album') : t('Opened an album')),
  Body: ({ output, old }) => {
    const { albumTitle, artist, tracks } = output as unknown as AlbumTracksOutput;
    return (
      <>
        <p className="label">
          {albumTitle}
          {artist && ` · ${artist}`}
        </p>
        <TrackRows tracks={tracks} numbered old={old} />
      </>
    );
  },
};
