// What a screen reader hears. One region for the whole page: it exists before anything is said, so nothing said is missed.
import { useSyncExternalStore } from 'react';

interface Line {
  id: number;
  text: string;
}

/** Older lines have been read out by then. */
const KEPT = 6;
let lines: Line[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

export function say(text: string): void {
  if (text.trim() === '') return;
  lines = [...lines, { id: nextId++, text }].slice(-KEPT);
  listeners.forEach((listener) => listener());
}

/** Every line is an element of its own: adding one is announced, also when it repeats the line before. */
export function LiveRegion() {
  const shown = useSyncExternalStore(subscribe, () => lines);
  return (
    <div className="visually-hidden" aria-live="polite" aria-relevant="additions" data-testid="announcer">
      {shown.map(({ id, text }) => (
        <p key={id} dir="auto">
          {text}
        </p>
      ))}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
