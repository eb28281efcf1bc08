// `suggestPlaylist`: a saved playlist with a reason for every track.
import { ArrowRight, ListPlus } from 'lucide-react';
import { Link } from 'wouter';
import type { SuggestPlaylistOutput } from '../api/types';
import { t } from '../i18n';
import { TrackRows } from '../music/track-rows';
import { field, quoted, type CardSpec } from './spec';

export const suggestPlaylist: CardSpec = {
  icon: ListPlus,
  changes: ['playlists'],
  title: (input, running) => {
    const title = field(input, 'title');
    if (title === '') return running ? t('Putting together a playlist') : t('Put together a playlist');
    const words = { title: quoted(title) };
    return running ? t('Putting together the playlist {title}', words) : t('Put together the playlist {title}', words);
  },
  Body: ({ output, old }) => {
    const { id, tracks, unknown = [] } = output as unknown as SuggestPlaylistOutput;
    return (
      <>
        <TrackRows tracks={tracks} numbered old={old} />
        {unknown.length > 0 && (
          <p className="tool-note">{t('Left out, because no source knows these codes: {codes}', { codes: unknown.join(', ') })}</p>
        )}
        {id && (
          <p className="playlist-foot">
            <Link className="button small" href={`/playlists?id=${id}`}>
              {t('Open the playlist')} <ArrowRight size={14} aria-hidden />
            </Link>
          </p>
        )}
      </>
    );
  },
};
