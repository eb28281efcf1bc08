// Messages between tabs, so that every open tab shows the same data without reloading.

export type News =
  | { kind: 'tasks' }
  | { kind: 'library' }
  | { kind: 'playlists' }
  | { kind: 'conversations' }
  | { kind: 'branch'; conversationId: string }
  | { kind: 'turn'; conversationId: string }
  | { kind: 'turn-end'; conversationId: string };

type Listener = (news: News) => void;

const listeners = new Set<Listener>();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('segue');
channel?.addEventListener('message', (event: MessageEvent<News>) => listeners.forEach((listener) => listener(event.data)));

/** Notifies the other tabs. This tab is already up to date, because it made the change. */
export function announce(news: News): void {
  channel?.postMessage(news);
}

export function onNews(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
