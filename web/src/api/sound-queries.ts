// Recordings that were recognised by their sound: the merges of a track, and the folders whose files are compared.
import { useQuery } from '@tanstack/react-query';
import { getJson, post } from './client';
import type { MergeList, ScanReport, Source, SourceList } from './types';

/** What was merged into a track of the library. */
export const useMerges = (trackId: string) =>
  useQuery({
    queryKey: ['library', 'merges', trackId],
    queryFn: async ({ signal }) => (await getJson<MergeList>(`/api/tracks/merges?into=${trackId}`, signal)).merges,
    // Merges happen in the background.
    staleTime: 0,
    retry: false,
  });

export const undoMerge = (undoId: string) => post(`/api/tracks/merges/${undoId}/undo`, {});
export const mergeTracks = (trackId: string, into: string) => post(`/api/tracks/${trackId}/merge`, { into });

/** Folders of the server that the library is kept in step with. */
export const useFolders = () =>
  useQuery({
    queryKey: ['library', 'folders'],
    queryFn: async ({ signal }) => (await getJson<SourceList>('/api/library/sources', signal)).sources,
    refetchInterval: (query) => (waitingIn(query.state.data) > 0 ? 1_500 : 30_000),
  });

/** The files whose sound is still to be compared. */
export const waitingIn = (folders: Source[] = []): number => folders.reduce((n, { sound }) => n + (sound?.waiting ?? 0), 0);

export const scanFolder = (id: string) => post<ScanReport>(`/api/library/sources/${id}/sync`, {});
