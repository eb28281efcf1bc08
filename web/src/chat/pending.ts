// A message on its way to the server. Until it is taken, a reload must not lose its words.
import { recall, remember } from '../ui/storage';
import { returnToDraft } from './drafts';
import type { QueuedMessage } from './reduce';

const PREFIX = 'segue.pending.';
const recovered = new Map<string, QueuedMessage>();

export function keepPending(key: string, message: QueuedMessage | null): void {
  remember(PREFIX + key, message && JSON.stringify(message));
}

/** Called once, when the page begins: what was on its way goes back to the composer. */
export function recoverPending(): void {
  for (const name of pendingNames()) {
    const saved = recall(name);
    remember(name, null);
    if (!saved) continue;
    const message = JSON.parse(saved) as QueuedMessage;
    recovered.set(message.text, message);
    returnToDraft(name.slice(PREFIX.length), message.text);
  }
}

/** The same words sent again keep their id: had the server taken them after all, they do not count twice. */
export function recoveredAs(text: string): QueuedMessage | undefined {
  const message = recovered.get(text);
  recovered.delete(text);
  return message;
}

function pendingNames(): string[] {
  try {
    return Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}
