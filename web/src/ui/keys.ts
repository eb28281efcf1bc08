// Helpers for keyboard events.
import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

/** An input method is composing text: Enter and Escape belong to it. Safari reports only the key code. */
export function isComposing(event: ReactKeyboardEvent | KeyboardEvent): boolean {
  const native = 'nativeEvent' in event ? event.nativeEvent : event;
  return native.isComposing || native.keyCode === 229;
}

/** A plain Enter that does not belong to an input method. */
export function isEnter(event: ReactKeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !isComposing(event);
}

/** Ctrl on most systems, ⌘ on Apple's. */
export function withCommand(event: Pick<KeyboardEvent, 'metaKey' | 'ctrlKey'>): boolean {
  return event.metaKey || event.ctrlKey;
}

/** Keys typed into a field are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
