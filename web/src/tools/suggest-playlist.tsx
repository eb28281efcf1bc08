// `suggestPlaylist`: a saved playlist with a reason for every track.
import { ArrowRight, ListPlus } from 'lucide-react';
import { Link } from 'wouter';
import type { SuggestPlaylistOutput } from '../api/types';
import { TrackRows } from '../music/track-rows';
import { field, quoted, type CardSpec } from './spec';

export const suggestPlaylist: CardSpec = {
  icon: ListPlus,
  title: (input, running) => {
    const title = field(input, 'title');
    const verb = running ? 'Putting together' : 'Put together';
    return title ? `${verb} the playlist ${quoted(title)}` : `${verb} a playlist`;
  },
  Body: ({ output, old }) => {
    const { id, tracks, unknown = [] } = output as unknown as SuggestPlaylistOutput;
    return (
      <>
        <TrackRows tracks={tracks} numbered old={old} />
        {unknown.length > 0 && <p className="tool-note">Left out, because no source knows these codes: {unknown.join(', ')}</p>}
        {id && (
          <p className="playlist-foot">
            <Link className="button small" href={`/playlists?id=${id}`}>
              Open the playlist <ArrowRight size={14} aria-hidden />
            </Link>
          </p>
        )}
      </>
    );
  },
};
