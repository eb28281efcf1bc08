// Artists, genres and decades of one's tracks.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getJson } from './client';
import type { ArtistLine, ArtistPage, Genres } from './types';

async function allArtists(q: string, signal: AbortSignal): Promise<ArtistLine[]> {
  const artists: ArtistLine[] = [];
  let cursor: number | null | undefined = 0;
  while (cursor != null) {
    const params = new URLSearchParams({ limit: '200', cursor: String(cursor), ...(q && { q }) });
    const page: ArtistPage = await getJson<ArtistPage>(`/api/library/artists?${params}`, signal);
    artists.push(...page.artists);
    cursor = page.next;
  }
  return artists;
}

export const useArtists = (q: string) =>
  useQuery({
    queryKey: ['library', 'artists', q],
    queryFn: ({ signal }) => allArtists(q, signal),
    placeholderData: keepPreviousData,
  });

export const useGenres = () =>
  useQuery({ queryKey: ['library', 'genres'], queryFn: ({ signal }) => getJson<Genres>('/api/library/genres', signal) });
