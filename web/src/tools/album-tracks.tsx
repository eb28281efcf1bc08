// `albumTracks`: one album, in playing order.
import { ListMusic } from 'lucide-react';
import type { AlbumTracksOutput } from '../api/types';
import { TrackRows } from '../music/track-rows';
import type { CardSpec } from './spec';

export const albumTracks: CardSpec = {
  icon: ListMusic,
  title: (_input, running) => (running ? 'Opening an album' : 'Opened an album'),
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
