// `list_playlists` and `edit_playlist`: what there is, and what was changed, with the way back.
import { ArrowRight, ListMusic, PencilLine, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { takeBack } from '../api/playlist-queries';
import { useChanged } from '../api/queries';
import type { EditPlaylistOutput, ListPlaylistsOutput } from '../api/types';
import type { ToolCall } from '../chat/parts';
import { plural, t } from '../i18n';
import { TrackRows } from '../music/track-rows';
import { count } from '../ui/format';
import { say } from '../ui/live-region';
import { ShortList } from '../ui/short-list';
import { toastError } from '../ui/toast';
import { field, quoted, type BodyProps, type CardSpec } from './spec';
import './playlists.css';

export const listPlaylists: CardSpec = {
  icon: ListMusic,
  title: (input, running) => {
    if (field(input, 'playlist') !== '') return running ? t('Reading a playlist') : t('Read a playlist');
    return running ? t('Reading your playlists') : t('Read your playlists');
  },
  outcome: ({ input, count: n }) => {
    if (n === undefined) return '';
    if (n === 0) return t('nothing found');
    return field(input, 'playlist') !== '' ? count(n, 'track') : plural(n, '{n} playlist', '{n} playlists');
  },
  Body: ({ output, old }) => {
    const { playlists, tracks } = output as unknown as ListPlaylistsOutput;
    if (tracks.length > 0) return <TrackRows tracks={tracks} numbered old={old} />;
    return (
      <ShortList
        items={playlists}
        first={6}
        render={({ id, title, trackCount }) => (
          <li key={id} className="playlist-line">
            <Link href={`/playlists?id=${id}`} dir="auto">
              {title}
            </Link>
            <span className="track-by">{count(trackCount, 'track')}</span>
          </li>
        )}
      />
    );
  },
};

export const editPlaylist: CardSpec = {
  icon: PencilLine,
  title: (_input, running) => (running ? t('Changing a playlist') : t('Changed a playlist')),
  outcome: whatChanged,
  changes: ['playlists'],
  Body: EditedPlaylist,
};

function whatChanged({ output }: ToolCall): string {
  if (!output) return '';
  const { action, changed, ...playlist } = output as unknown as EditPlaylistOutput;
  const [first] = changed;
  const title = quoted(playlist.title);
  const what = first && changed.length === 1 ? quoted(first.title) : count(changed.length, 'track');
  switch (action) {
    case 'rename':
      return t('renamed to {title}', { title });
    case 'add':
      return t('{what} added to {title}', { what, title });
    case 'remove':
      return t('{what} removed from {title}', { what, title });
    case 'move':
      return t('{what} moved to position {n} of {title}', { what, title, n: first?.position ?? 1 });
  }
}

function EditedPlaylist({ output }: BodyProps) {
  const { id, title, changed, undoId } = output as unknown as EditPlaylistOutput;
  const [undone, setUndone] = useState(false);
  const tell = useChanged();
  const undo = async () => {
    try {
      await takeBack(undoId);
      setUndone(true);
      say(t('Undone: the change of “{title}”', { title }));
      tell('playlists');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <>
      {undone && <p className="tool-note">{t('Undone. The playlist is as it was.')}</p>}
      {changed.length > 0 && (
        <ul className="playlist-changes">
          {changed.map(({ position, title, artist }) => (
            <li key={`${position} ${title}`} dir="auto">
              <span className="track-number">{position}</span> {title} <span className="track-by">{artist}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="playlist-foot">
        <Link className="button small" href={`/playlists?id=${id}`}>
          {t('Open the playlist')} <ArrowRight size={14} aria-hidden />
        </Link>
        {!undone && (
          <button type="button" className="button small quiet" onClick={() => void undo()}>
            <Undo2 size={14} aria-hidden /> {t('Undo')}
          </button>
        )}
      </p>
    </>
  );
}
