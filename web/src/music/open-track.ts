// The track whose details are open above whatever page one is on.
import { useSyncExternalStore } from 'react';

let open: string | null = null;
const listeners = new Set<() => void>();

export function openTrack(isrc: string | null): void {
  open = isrc;
  listeners.forEach((listener) => listener());
}

export const useOpenTrack = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
