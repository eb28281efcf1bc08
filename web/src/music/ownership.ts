// Whether a track is in the library now. A list says what was true when it was made; what happened here since counts more.
import { useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { addTrack, getTrack, removeTrack, restoreTrack, useChanged } from '../api/queries';
import { toast, toastError } from '../ui/toast';

const since = new Map<string, boolean>();
const listeners = new Set<() => void>();

export function setOwned(isrc: string, owned: boolean): void {
  since.set(isrc, owned);
  listeners.forEach((listener) => listener());
}

interface Listed {
  isrc: string;
  title: string;
  inLibrary: boolean;
}

/** `old`: the list is from an earlier visit, so the server is asked once. */
export function useOwned({ isrc, inLibrary }: Listed, old = false): boolean {
  const changed = useSyncExternalStore(subscribe, () => since.get(isrc));
  const { data } = useQuery({
    queryKey: ['owned', isrc],
    queryFn: async ({ signal }) => (await getTrack(isrc, signal)).inLibrary,
    enabled: old && isrc !== '' && changed === undefined,
    staleTime: 300_000,
    retry: false,
  });
  return changed ?? data ?? inLibrary;
}

/** Adding and removing one track, each with its way back. */
export function useOwnership(track: Listed, old = false) {
  const owned = useOwned(track, old);
  const [busy, setBusy] = useState(false);
  const changed = useChanged();
  const { isrc, title } = track;

  const become = async (now: boolean, write: () => Promise<unknown>) => {
    await write();
    setOwned(isrc, now);
    changed('library');
  };
  const act = async (now: boolean, write: () => Promise<unknown>, back: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await become(now, write);
      const words = now ? `Added “${title}” to your library` : `Removed “${title}” from your library`;
      toast(words, { undo: () => become(!now, back) });
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  return {
    owned,
    busy,
    add: () =>
      act(
        true,
        () => addTrack(isrc),
        () => removeTrack(isrc),
      ),
    remove: () =>
      act(
        false,
        () => removeTrack(isrc),
        () => restoreTrack(isrc),
      ),
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
