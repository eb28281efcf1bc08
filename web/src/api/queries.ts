// Every read request of the page by name, and every write with the queries that it invalidates.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { shownTitle } from '../history/shown-title';
import { ApiError, getJson, getPages, patch, post, remove, send } from './client';
import { announce, type News } from './news';
import { refresh } from './refresh';
import type {
  About,
  AlbumList,
  AlbumTracksOutput,
  ConversationList,
  ImportAnswer,
  IndexedTrackResult,
  IngestStatus,
  LibrarySort,
  Me,
  OpenAlbum,
  OpenList,
  RemovedTracks,
  Retried,
  SemanticSearchOutput,
  TidalSearchOutput,
  TrackPage,
} from './types';

type Kind = Exclude<News['kind'], 'branch' | 'turn' | 'turn-end'>;

/** Marks a kind of data as changed, in this tab and in every other tab. */
export function useChanged(): (kind: Kind) => void {
  const queries = useQueryClient();
  return useCallback(
    (kind) => {
      void refresh(queries, [kind]);
      announce({ kind });
    },
    [queries],
  );
}

export const useAbout = () =>
  useQuery({ queryKey: ['about'], queryFn: ({ signal }) => getJson<About>('/api/about', signal), staleTime: 60_000 });

export const useMe = () => useQuery({ queryKey: ['me'], queryFn: ({ signal }) => getJson<Me>('/api/me', signal) });

// ---- conversations ---------------------------------------------------------------------------------------------

export const useConversations = (q: string) =>
  useInfiniteQuery({
    queryKey: ['conversations', q],
    queryFn: ({ pageParam, signal }) =>
      getJson<ConversationList>(`/api/conversations?${params({ limit: 40, q, before: pageParam })}`, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    // Another device may be asking: its dot goes out when the answer is there.
    refetchInterval: (query) => (query.state.data?.pages.some((page) => page.conversations.some((one) => one.running)) ? 4_000 : false),
  });

/** The title in the list: the server titles a new conversation, and another tab may rename one. */
export function useTitle(id: string | null): string | undefined {
  const { data } = useConversations('');
  const listed = data?.pages.flatMap((page) => page.conversations).find((conversation) => conversation.id === id);
  return listed && shownTitle(listed);
}

/** The whole of it as a file: every branch as JSON, the one that is shown as Markdown. */
export const exportConversation = async (id: string, format: 'json' | 'markdown') =>
  (await send(`/api/conversations/${id}/export?format=${format}`)).text();
export const pinConversation = (id: string, pinned: boolean) => patch(`/api/conversations/${id}`, { pinned });
export const renameConversation = (id: string, title: string) => patch(`/api/conversations/${id}`, { title });
export const deleteConversation = (id: string) => remove(`/api/conversations/${id}`);
export const restoreConversation = (id: string) => post(`/api/conversations/${id}/restore`, {});

// ---- library ---------------------------------------------------------------------------------------------------

export interface TrackFilter {
  artist?: string;
  genre?: string;
  decade?: string;
}

export const useTracks = (q: string, sort: LibrarySort, { artist = '', genre = '', decade = '' }: TrackFilter = {}) =>
  useInfiniteQuery({
    queryKey: ['library', 'tracks', q, sort, artist, genre, decade],
    queryFn: ({ pageParam, signal }) =>
      getJson<TrackPage>(`/api/library/tracks?${params({ q, sort, artist, genre, decade, limit: 100, cursor: pageParam })}`, signal),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });

/** The number of tracks in the library: zero means a new user. */
export const useLibrarySize = () =>
  useQuery({
    queryKey: ['library', 'size'],
    queryFn: async ({ signal }) => (await getJson<TrackPage>('/api/library/tracks?limit=1', signal)).total,
  });

/** The list is sorted by the page, so that it needs all of it. */
export const useAlbums = (q: string) =>
  useQuery({
    queryKey: ['library', 'albums', q],
    queryFn: async ({ signal }) =>
      (await getPages<AlbumList>(`/api/library/albums?${params({ q, limit: 200 })}`, signal)).flatMap(({ albums }) => albums),
    placeholderData: keepPreviousData,
  });

export const getTrack = (isrc: string, signal?: AbortSignal) => getJson<IndexedTrackResult>(`/api/library/tracks/${isrc}`, signal);

export const useTrack = (isrc: string | null) =>
  useQuery({
    queryKey: ['library', 'track', isrc],
    queryFn: ({ signal }) => getTrack(isrc ?? '', signal),
    enabled: isrc !== null,
    retry: false,
  });

export const useAlbum = (id: string | null) =>
  useQuery({
    queryKey: ['library', 'album', id],
    queryFn: ({ signal }) => getJson<OpenAlbum>(`/api/library/albums/${id}`, signal),
    enabled: id !== null,
  });

export const useSearchByMeaning = (q: string) =>
  useQuery({
    queryKey: ['library', 'meaning', q],
    queryFn: ({ signal }) => getJson<SemanticSearchOutput>(`/api/search?${params({ q, limit: 50 })}`, signal),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });

export const useCatalogueSearch = (query: string) =>
  useQuery({
    queryKey: ['catalogue', query],
    queryFn: () => post<TidalSearchOutput>('/api/tools/tidalSearch', { query, searchType: 'both', limit: 20 }),
    enabled: query !== '',
    retry: false,
  });

export const useAlbumTracks = (albumId: string) =>
  useQuery({
    queryKey: ['catalogue', 'album', albumId],
    queryFn: () => post<AlbumTracksOutput>('/api/tools/albumTracks', { albumId }),
    staleTime: Infinity,
    retry: false,
  });

/** A removed track that no other source has is restored from the removed tracks. */
export const addTrack = (isrc: string) =>
  post('/api/library/tracks', { isrc }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return restoreTrack(isrc);
    throw error;
  });
export const removeTrack = (isrc: string) => remove(`/api/library/tracks/${isrc}`);
/** In one step; `takeBack` of its undo id brings all of them back. */
export const removeTracks = (trackIds: string[]) => post<RemovedTracks>('/api/library/tracks/remove', { trackIds });
export const restoreTrack = (isrc: string) => post(`/api/library/tracks/${isrc}/restore`, {});
export const addAlbum = (albumId: string) => post('/api/library/albums', { albumId });
export const removeAlbum = (id: string) => remove(`/api/library/albums/${id}`);
export const restoreAlbum = (id: string) => post(`/api/library/albums/${id}/restore`, {});

export const useIndexStatus = () =>
  useQuery({
    queryKey: ['library', 'index'],
    queryFn: ({ signal }) => getJson<IngestStatus>('/api/index', signal),
    refetchInterval: (query) => (isBusy(query.state.data) ? 1_500 : 30_000),
  });

function isBusy(status: IngestStatus | undefined): boolean {
  return status !== undefined && (status.pending > 0 || (status.lookingFor ?? 0) > 0 || stepsAreBusy(status));
}

export function stepsAreBusy({ steps = {} }: IngestStatus): boolean {
  return Object.values(steps).some(({ waiting, running }) => waiting + running > 0);
}

// ---- importing -------------------------------------------------------------------------------------------------

export async function importFiles(files: File[]): Promise<ImportAnswer> {
  const body = new FormData();
  for (const file of files) body.append('file', file);
  return (await (await send('/api/library/import', { method: 'POST', body })).json()) as ImportAnswer;
}

/** Open entries of imports: several recordings match, or none is known yet. */
export const useOpenEntries = () =>
  useQuery({
    queryKey: ['library', 'open'],
    queryFn: async ({ signal }) => (await getPages<OpenList>('/api/library/unmatched?limit=200', signal)).flatMap(({ entries }) => entries),
  });

export const chooseRecording = (entry: string, isrc: string) => post(`/api/library/unmatched/${entry}`, { isrc });
export const forgetEntry = (entry: string) => remove(`/api/library/unmatched/${entry}`);
export const rememberEntry = (entry: string) => post(`/api/library/unmatched/${entry}/restore`, {});
export const lookAgain = () => post<Retried>('/api/library/unmatched/retry', {});

function params(values: Record<string, string | number>): string {
  const kept = Object.entries(values).filter(([, value]) => value !== '');
  return new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
}
