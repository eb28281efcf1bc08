// When the focused element is removed, the focus moves to the nearest element, so that it is never lost.
import { useEffect } from 'react';
import { isTyping } from '../ui/keys';

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';

interface Place {
  element: Element;
  /** From the nearest ancestor outwards. */
  ancestors: Element[];
  /** The list that contained it, and its position: the next entry gets the focus. */
  list: Element | null;
  row: number;
}

export function useKeptFocus(): void {
  useEffect(() => {
    let place: Place | null = null;
    const onFocusIn = (event: FocusEvent) => {
      if (event.target instanceof Element) place = placeOf(event.target);
    };
    const recover = () => {
      if (!place || document.activeElement !== document.body || place.element.isConnected) return;
      const next = leftATextField(place) ? document.getElementById('main') : heirOf(place);
      place = null;
      next?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(recover);
    document.addEventListener('focusin', onFocusIn);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', onFocusIn);
      observer.disconnect();
    };
  }, []);
}

/** On a touch screen a focused field opens the keyboard, which covers the text. */
function leftATextField({ element }: Place): boolean {
  return isTyping(element) && !window.matchMedia('(hover: hover)').matches;
}

function placeOf(element: Element): Place {
  const ancestors: Element[] = [];
  for (let up = element.parentElement; up; up = up.parentElement) ancestors.push(up);
  const item = element.closest('li');
  const list = item?.parentElement ?? null;
  return { element, ancestors, list, row: item && list ? [...list.children].indexOf(item) : 0 };
}

/** The same control after a new render: the page changed its URL, or a row was edited. */
function twinOf(element: Element): HTMLElement | null {
  const label = element.getAttribute('aria-label');
  const same =
    label && [...document.querySelectorAll<HTMLElement>(element.tagName)].find((other) => other.getAttribute('aria-label') === label);
  return same || null;
}

function heirOf({ element, ancestors, list, row }: Place): HTMLElement | null {
  const item = list?.isConnected ? (list.children[Math.min(row, list.children.length - 1)] ?? null) : null;
  const twin = twinOf(element);
  if (twin) return twin;
  const places = [item, ...ancestors.filter((ancestor) => ancestor.isConnected && ancestor !== document.body && ancestor.id !== 'root')];
  for (const place of places) {
    const found = place && [...place.querySelectorAll<HTMLElement>(FOCUSABLE)].find((candidate) => candidate.offsetParent !== null);
    if (found) return found;
  }
  return document.getElementById('main');
}
