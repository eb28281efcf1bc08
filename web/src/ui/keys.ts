// Keys that mean the same everywhere.
import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

/** An input method is choosing a word: Enter and Escape belong to it. Safari reports only the key code. */
export function isComposing(event: ReactKeyboardEvent | KeyboardEvent): boolean {
  const native = 'nativeEvent' in event ? event.nativeEvent : event;
  return native.isComposing || native.keyCode === 229;
}

/** A plain Enter that is not the input method's. */
export function isEnter(event: ReactKeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !isComposing(event);
}

/** Ctrl on most machines, ⌘ on Apple's. */
export function withCommand(event: KeyboardEvent): boolean {
  return event.metaKey || event.ctrlKey;
}

/** Keys typed into a field are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
