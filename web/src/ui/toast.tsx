// Short messages at the edge of the screen: what just happened, with an undo button.
import { X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { explain } from '../api/client';
import { t } from '../i18n';
import { say } from './live-region';
import { topDialog } from './top-dialog';
import './toast.css';

interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'bad';
  undo?: () => Promise<unknown>;
}

const SHOWN_MS = 8_000;
/** The actions that Ctrl Z can undo, newest last. They stay after their message has disappeared. */
let undoable: Toast[] = [];
const MOST_UNDOABLE = 20;
let toasts: Toast[] = [];
let nextId = 1;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();

export function toast(text: string, options: Pick<Toast, 'undo'> = {}): void {
  show({ text, tone: 'plain', ...options });
}

/**
 * Something that the page shows before the server has confirmed it. The message comes with the confirmation; Ctrl Z works
 * at once, and takes it back as soon as it is confirmed.
 */
export function toastWhen(confirmed: Promise<unknown>, text: string, undo: () => Promise<unknown>): void {
  let takenBack = false;
  const item: Toast = {
    id: nextId++,
    text,
    tone: 'plain',
    undo: () => {
      takenBack = true;
      return confirmed.then(undo);
    },
  };
  remember(item);
  confirmed.then(
    () => takenBack || display(item),
    (error) => {
      forget(item);
      // Otherwise the undo that waited for it reports the failure.
      if (!takenBack) toastError(error);
    },
  );
}

/** Something small that was seen to happen: no words on the screen, but Ctrl Z takes it back. */
export function canUndo(text: string, undo: () => Promise<unknown>): void {
  remember({ id: nextId++, text, tone: 'plain', undo });
}

export function toastError(error: unknown): void {
  show({ text: explain(error), tone: 'bad' });
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const dialog = useSyncExternalStore(topDialog.subscribe, topDialog.get);
  return createPortal(
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((item) => (
        <div
          key={item.id}
          className={`toast rise ${item.tone}`}
          onPointerEnter={() => hold(item.id)}
          onPointerLeave={() => release(item.id)}
        >
          <span>{item.text}</span>
          {item.undo && (
            <button type="button" className="button small" onClick={() => void takeBack(item)}>
              {t('Undo')}
            </button>
          )}
          <button type="button" className="icon-button small" aria-label={t('Dismiss')} onClick={() => close(item.id)}>
            <X size={15} />
          </button>
        </div>
      ))}
    </div>,
    dialog ?? document.body,
  );
}

function show(toast: Omit<Toast, 'id'>): void {
  const item = { ...toast, id: nextId++ };
  if (item.undo) remember(item);
  display(item);
}

function display(item: Toast): void {
  for (const oldest of toasts.slice(0, -2)) close(oldest.id);
  set([...toasts, item]);
  release(item.id);
}

function remember(item: Toast): void {
  undoable = [...undoable, item].slice(-MOST_UNDOABLE);
}

function forget(item: Toast): void {
  undoable = undoable.filter((other) => other.id !== item.id);
}

async function takeBack(item: Toast): Promise<void> {
  hold(item.id);
  set(toasts.filter((other) => other.id !== item.id));
  forget(item);
  try {
    await item.undo?.();
    say(t('Undone: {text}', { text: item.text }));
  } catch (error) {
    toastError(error);
  }
}

/** Undoes the last action. Returns false if there is none. */
export function undoLast(): boolean {
  const last = undoable.at(-1);
  if (last) void takeBack(last);
  return last !== undefined;
}

function close(id: number): void {
  hold(id);
  set(toasts.filter((item) => item.id !== id));
}

function hold(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

function release(id: number): void {
  hold(id);
  timers.set(
    id,
    setTimeout(() => close(id), SHOWN_MS),
  );
}

function set(next: Toast[]): void {
  toasts = next;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
