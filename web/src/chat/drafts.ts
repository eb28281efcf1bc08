// Unsent words, by conversation. Kept in the tab's storage, so a reload, a refusal or a look at another page loses none.
import { useCallback, useSyncExternalStore } from 'react';
import { recall, remember } from '../ui/storage';

/** The new chat has one draft, whichever agent is chosen above it. */
export const NEW_CHAT = 'new';

const listeners = new Set<() => void>();
const name = (key: string) => `segue.draft.${key}`;

export function readDraft(key: string): string {
  return recall(name(key)) ?? memory.get(key) ?? '';
}

export function writeDraft(key: string, text: string): void {
  remember(name(key), text === '' ? null : text);
  // Where storage is forbidden the words must still be in the field.
  if (text !== '' && recall(name(key)) === null) memory.set(key, text);
  else memory.delete(key);
  listeners.forEach((listener) => listener());
}

const memory = new Map<string, string>();

/** Words that were refused go back in front of what was typed since. */
export function returnToDraft(key: string, text: string): void {
  const since = readDraft(key);
  if (since.trim() === text.trim()) return;
  writeDraft(key, since.trim() === '' ? text : `${text}\n\n${since}`);
}

/** A new conversation got its address: what was typed meanwhile goes along. */
export function moveDraft(from: string, to: string): void {
  const text = readDraft(from);
  writeDraft(from, '');
  if (text !== '') writeDraft(to, text);
}

export function useDraft(key: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(subscribe, () => readDraft(key));
  const set = useCallback((next: string) => writeDraft(key, next), [key]);
  return [text, set];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
