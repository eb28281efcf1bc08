// Which tracks of the list are selected: one by one, a range, or all of them.
import { useCallback, useRef, useState } from 'react';
import type { LibraryEntry } from '../api/types';
import { plural, t } from '../i18n';
import { say } from '../ui/live-region';

export interface Selection {
  selected: ReadonlyMap<string, LibraryEntry>;
  /** Check boxes are shown on every row, also before the first one is checked. */
  active: boolean;
  begin: () => void;
  /** Checks or unchecks one row; with `range`, all rows from the last one to this one take its new state. */
  toggle: (row: number, range: boolean) => void;
  all: (tracks: LibraryEntry[]) => void;
  clear: () => void;
}

/** `tracks` are the loaded ones, in their order. */
export function useSelection(tracks: LibraryEntry[]): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, LibraryEntry>>(new Map());
  const [begun, setBegun] = useState(false);
  const last = useRef<string | null>(null);

  const put = useCallback((next: ReadonlyMap<string, LibraryEntry>) => {
    setSelected(next);
    say(next.size === 0 ? t('Nothing selected') : plural(next.size, '{n} track selected', '{n} tracks selected'));
  }, []);
  const toggle = (row: number, range: boolean) => {
    const track = tracks[row];
    if (!track) return;
    const from = range ? tracks.findIndex(({ trackId }) => trackId === last.current) : -1;
    put(toggled(selected, tracks, from < 0 ? row : from, row));
    last.current = track.trackId;
  };
  const all = (every: LibraryEntry[]) => put(new Map(every.map((track) => [track.trackId, track])));
  const clear = useCallback(() => {
    setSelected(new Map());
    setBegun(false);
    last.current = null;
  }, []);
  return { selected, active: begun || selected.size > 0, begin: () => setBegun(true), toggle, all, clear };
}

/** The row at `to` changes; every row between it and `from` gets the same state. */
export function toggled<T extends { trackId: string }>(
  selected: ReadonlyMap<string, T>,
  tracks: T[],
  from: number,
  to: number,
): Map<string, T> {
  const next = new Map(selected);
  const target = tracks[to];
  if (!target) return next;
  // A range extends what is selected; a single row changes sides.
  const on = from !== to || !selected.has(target.trackId);
  for (const track of tracks.slice(Math.min(from, to), Math.max(from, to) + 1)) {
    if (on) next.set(track.trackId, track);
    else next.delete(track.trackId);
  }
  return next;
}
