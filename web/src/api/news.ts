// What one tab tells the others, so that every open page shows the same world without reloading.

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
channel?.addEventListener('message', (event: MessageEvent<News>) => listeners.forEach((tell) => tell(event.data)));

/** Tells the other tabs. This tab already knows: it is the one that did it. */
export function announce(news: News): void {
  channel?.postMessage(news);
}

export function onNews(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
