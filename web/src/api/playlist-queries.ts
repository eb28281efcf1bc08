// Playlists: every read and every write, each write with what takes it back.
import { useQuery } from '@tanstack/react-query';
import { getJson, patch, post, putJson, remove, removeJson } from './client';
import type { ChangedPlaylist, PlaylistDetails, PlaylistLine, PlaylistList } from './types';

async function allPlaylists(signal: AbortSignal): Promise<PlaylistLine[]> {
  const lines: PlaylistLine[] = [];
  let cursor = '';
  do {
    const page = await getJson<PlaylistList>(`/api/playlists?limit=200${cursor && `&cursor=${cursor}`}`, signal);
    lines.push(...page.playlists);
    cursor = page.next ?? '';
  } while (cursor !== '');
  return lines;
}

export const usePlaylists = () => useQuery({ queryKey: ['playlists'], queryFn: ({ signal }) => allPlaylists(signal) });

export const usePlaylist = (id: string | null) =>
  useQuery({
    queryKey: ['playlists', id],
    queryFn: ({ signal }) => getJson<PlaylistDetails>(`/api/playlists/${id}`, signal),
    enabled: id !== null,
    retry: false,
  });

export interface NewPlaylist {
  title: string;
  trackIds?: string[];
}

export const createPlaylist = (playlist: NewPlaylist) => post<ChangedPlaylist>('/api/playlists', playlist);
export const changePlaylist = (id: string, change: { title?: string; description?: string | null }) =>
  patch<ChangedPlaylist>(`/api/playlists/${id}`, change);
export const duplicatePlaylist = (id: string) => post<ChangedPlaylist>(`/api/playlists/${id}/duplicate`, {});
export const deletePlaylist = (id: string) => remove(`/api/playlists/${id}`);
export const restorePlaylist = (id: string) => post(`/api/playlists/${id}/restore`, {});
export const addToPlaylist = (id: string, trackIds: string[]) => post<ChangedPlaylist>(`/api/playlists/${id}/tracks`, { trackIds });
export const removeItem = (id: string, itemId: string) => removeJson<ChangedPlaylist>(`/api/playlists/${id}/tracks/${itemId}`);
/** `revision`: what the order was made from. A list that was changed elsewhere since is not overwritten. */
export const arrangePlaylist = (id: string, trackIds: string[], revision: number) =>
  putJson<ChangedPlaylist>(`/api/playlists/${id}/tracks`, { trackIds, revision });

/** Takes back what one edit or one tool call did. */
export const takeBack = (undoId: string) => post(`/api/undo/${undoId}`, {});
