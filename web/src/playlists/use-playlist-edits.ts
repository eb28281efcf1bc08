// Edits of one playlist: shown at once, sent one after the other, each with its way back.
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { arrangePlaylist, changePlaylist, removeItem, takeBack } from '../api/playlist-queries';
import { useChanged } from '../api/queries';
import type { ChangedPlaylist, PlaylistDetails } from '../api/types';
import { t } from '../i18n';
import { say } from '../ui/live-region';
import { canUndo, toast, toastError } from '../ui/toast';
import { moved } from './moved';

export function usePlaylistEdits(id: string) {
  const queries = useQueryClient();
  const changed = useChanged();
  const key = ['playlists', id];
  /** The last edit that was sent: the next one waits for its revision. */
  const last = useRef<Promise<unknown>>(Promise.resolve());

  const now = () => queries.getQueryData<PlaylistDetails>(key);
  const show = (playlist: PlaylistDetails) => queries.setQueryData(key, playlist);
  const back = (undoId: string) => () => takeBack(undoId).then(() => changed('playlists'));

  const edit = (write: () => Promise<ChangedPlaylist>, done: (after: ChangedPlaylist) => void) => {
    const sent = last.current.then(write).then(
      (after) => {
        done(after);
        // What a later edit shows already stays shown: only the revision is new.
        const shown = now();
        if (shown && after.revision > shown.revision) show({ ...shown, revision: after.revision, updatedAt: after.updatedAt });
      },
      (error: unknown) => toastError(error),
    );
    last.current = sent;
    void sent.then(() => {
      // The last one of several: what the server has counts.
      if (last.current === sent) changed('playlists');
    });
  };

  const change = (fields: { title?: string; description?: string }, words: string) => {
    const before = now();
    if (before) show({ ...before, ...fields });
    edit(
      () => changePlaylist(id, fields),
      ({ undoId }) => toast(words, { undo: back(undoId) }),
    );
  };

  const remove = (itemId: string) => {
    const before = now();
    const item = before?.tracks.find((track) => track.itemId === itemId);
    if (!before || !item) return;
    show({ ...before, tracks: before.tracks.filter((track) => track.itemId !== itemId) });
    edit(
      () => removeItem(id, itemId),
      ({ undoId }) => toast(t('Removed “{title}”', { title: item.title }), { undo: back(undoId) }),
    );
  };

  /** `quietly`: by the keyboard, step by step; each step is announced but leaves nothing on the screen. */
  const move = (itemId: string, to: number, quietly = false) => {
    const before = now();
    const tracks = before && moved(before.tracks, itemId, to);
    const item = tracks?.find((track) => track.itemId === itemId);
    if (!tracks || !item) return;
    show({ ...before, tracks });
    const words = t('“{title}” is number {n} of {all}', { title: item.title, n: tracks.indexOf(item) + 1, all: tracks.length });
    say(words);
    const order = tracks.map((track) => track.trackId);
    edit(
      () => arrangePlaylist(id, order, now()?.revision ?? 0),
      ({ undoId }) =>
        quietly
          ? canUndo(t('moving “{title}”', { title: item.title }), back(undoId))
          : toast(t('Moved “{title}”', { title: item.title }), { undo: back(undoId) }),
    );
  };

  return { change, remove, move };
}
