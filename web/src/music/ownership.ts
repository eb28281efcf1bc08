// Whether a track is in the library now. A list says what was true when it was made; what happened here since counts more.
import { useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { addTrack, getTrack, removeTrack, restoreTrack, useChanged } from '../api/queries';
import { t } from '../i18n';
import { toast, toastError } from '../ui/toast';

const since = new Map<string, boolean>();
const listeners = new Set<() => void>();

export function setOwned(name: string, owned: boolean): void {
  since.set(name, owned);
  listeners.forEach((listener) => listener());
}

interface Listed {
  isrc: string;
  /** Absent in answers of version 0.1. */
  trackId?: string;
  title: string;
  inLibrary: boolean;
}

/** What the server knows a track by: its code, or its own id where it has no code. */
export const nameOf = ({ isrc, trackId }: Pick<Listed, 'isrc' | 'trackId'>): string => isrc || trackId || '';

/** `old`: the list is from an earlier visit, so the server is asked once. */
export function useOwned(track: Listed, old = false): boolean {
  const name = nameOf(track);
  const changed = useSyncExternalStore(subscribe, () => since.get(name));
  const { data } = useQuery({
    queryKey: ['owned', name],
    queryFn: async ({ signal }) => (await getTrack(name, signal)).inLibrary,
    enabled: old && name !== '' && changed === undefined,
    staleTime: 300_000,
    retry: false,
  });
  return changed ?? data ?? track.inLibrary;
}

/** Adding and removing one track, each with its way back. */
export function useOwnership(track: Listed, old = false) {
  const owned = useOwned(track, old);
  const [busy, setBusy] = useState(false);
  const changed = useChanged();
  const { title } = track;
  const name = nameOf(track);

  const become = async (now: boolean, write: () => Promise<unknown>) => {
    await write();
    setOwned(name, now);
    changed('library');
  };
  const act = async (now: boolean, write: () => Promise<unknown>, back: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await become(now, write);
      const words = now ? t('Added “{title}” to your library', { title }) : t('Removed “{title}” from your library', { title });
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
        () => addTrack(name),
        () => removeTrack(name),
      ),
    remove: () =>
      act(
        false,
        () => removeTrack(name),
        () => restoreTrack(name),
      ),
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
