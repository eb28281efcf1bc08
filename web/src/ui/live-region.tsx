// The live region for screen readers. There is one for the whole page; it exists before the first message, so no
// message is missed.
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

/** Every line is a separate element, so that a repeated line is announced too. */
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
