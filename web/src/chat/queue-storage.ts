// Messages that wait for their turn survive a reload of the tab.
import { recall, remember } from '../ui/storage';
import type { QueuedMessage } from './reduce';

const queueKey = (conversationId: string) => `segue.queue.${conversationId}`;

export function savedQueue(conversationId: string): QueuedMessage[] {
  const saved = recall(queueKey(conversationId));
  return saved ? (JSON.parse(saved) as QueuedMessage[]) : [];
}

export function keepQueue(conversationId: string, queue: QueuedMessage[]): void {
  remember(queueKey(conversationId), queue.length === 0 ? null : JSON.stringify(queue));
}
