// Whether there is a network, and whether Segue answers.
import { useSyncExternalStore } from 'react';
import { reachability } from '../api/client';

export const useNetwork = () => useSyncExternalStore(watchNetwork, () => navigator.onLine);
export const useReachable = () => useSyncExternalStore(reachability.subscribe, reachability.get);

/** False while the bar at the top of the page reports a missing connection. */
export function useOnline(): boolean {
  const network = useNetwork();
  const reachable = useReachable();
  return network && reachable;
}

function watchNetwork(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}
