// The trash: what was deleted, with the ways out of it.
import { useInfiniteQuery } from '@tanstack/react-query';
import { getJson, post, remove } from './client';
import type { Deleted, TrashList } from './types';

export const TRASH = ['trash'];

export const useTrash = () =>
  useInfiniteQuery({
    queryKey: TRASH,
    queryFn: ({ pageParam, signal }) => getJson<TrashList>(`/api/trash?limit=100${pageParam && `&cursor=${pageParam}`}`, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    // Every page of Segue fills it.
    staleTime: 0,
  });

const PLACES: Record<Deleted['kind'], string> = {
  album: '/api/library/albums',
  conversation: '/api/conversations',
  playlist: '/api/playlists',
  task: '/api/tasks',
  track: '/api/library/tracks',
};

export const restoreDeleted = ({ kind, id, albumId }: Deleted) => post(`${PLACES[kind]}/${albumId ?? id}/restore`, {});
export const eraseDeleted = (id: string) => remove(`/api/trash/${id}`);
export const emptyTrash = () => remove('/api/trash');
