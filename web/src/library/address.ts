// The library page as its address says: view, words, order, place in the list, and what is open above it.
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import type { LibrarySort } from '../api/types';

export type View = 'tracks' | 'albums' | 'artists' | 'genres' | 'decades' | 'meaning';

const VIEWS: readonly string[] = ['tracks', 'albums', 'artists', 'genres', 'decades', 'meaning'];
const SORTS: readonly string[] = ['added', 'title', 'artist', 'album'];
type Key = 'view' | 'q' | 'sort' | 'at' | 'track' | 'album' | 'by' | 'letter' | 'artist' | 'genre' | 'decade';
/** Marks a history entry that this page put in front of the list; going back from it is the way to close. */
const OPENED = { openedHere: true };

export function useAddress() {
  const [search, setSearch] = useSearchParams();

  const write = useCallback(
    (changes: Partial<Record<Key, string | null>>, options: { replace?: boolean; state?: unknown }) =>
      setSearch((previous) => {
        const next = new URLSearchParams(previous);
        for (const [key, value] of Object.entries(changes)) {
          if (value) next.set(key, value);
          else next.delete(key);
        }
        return next;
      }, options),
    [setSearch],
  );
  /** Changes of the list itself: the way back leads to the page before, not through every letter typed. */
  const change = useCallback((changes: Partial<Record<Key, string | null>>) => write(changes, { replace: true }), [write]);
  const open = useCallback((key: 'track' | 'album', id: string) => write({ by: null, [key]: id }, { state: OPENED }), [write]);
  /** From a group to its tracks: the way back leads to the group. */
  const pick = useCallback(
    (key: 'artist' | 'genre' | 'decade', value: string) => write({ view: null, q: null, at: null, [key]: value }, {}),
    [write],
  );
  const close = useCallback(() => {
    const state = window.history.state as typeof OPENED | null;
    if (state?.openedHere) window.history.back();
    else write({ track: null, album: null, by: null }, { replace: true });
  }, [write]);

  return {
    view: valid(search.get('view'), VIEWS, 'tracks') as View,
    sort: valid(search.get('sort'), SORTS, 'added') as LibrarySort,
    q: search.get('q') ?? '',
    at: Number(search.get('at') ?? 0) || 0,
    track: search.get('track'),
    album: search.get('album'),
    /** The artist of `album`, which is then a title and not an id. */
    by: search.get('by'),
    letter: search.get('letter'),
    artist: search.get('artist') ?? '',
    genre: search.get('genre') ?? '',
    decade: search.get('decade') ?? '',
    change,
    pick,
    open,
    close,
  };
}

function valid(value: string | null, allowed: readonly string[], otherwise: string): string {
  return value !== null && allowed.includes(value) ? value : otherwise;
}
