// When the focused element is taken away, the focus goes to what is nearest, never to nothing.
import { useEffect } from 'react';

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';

interface Place {
  element: Element;
  /** From the nearest ancestor outwards. */
  ancestors: Element[];
  /** The list it was in, and at which place: the next entry takes over. */
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
      const next = heirOf(place);
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

function placeOf(element: Element): Place {
  const ancestors: Element[] = [];
  for (let up = element.parentElement; up; up = up.parentElement) ancestors.push(up);
  const item = element.closest('li');
  const list = item?.parentElement ?? null;
  return { element, ancestors, list, row: item && list ? [...list.children].indexOf(item) : 0 };
}

function heirOf({ ancestors, list, row }: Place): HTMLElement | null {
  const item = list?.isConnected ? (list.children[Math.min(row, list.children.length - 1)] ?? null) : null;
  const places = [item, ...ancestors.filter((ancestor) => ancestor.isConnected && ancestor !== document.body && ancestor.id !== 'root')];
  for (const place of places) {
    const found = place && [...place.querySelectorAll<HTMLElement>(FOCUSABLE)].find((candidate) => candidate.offsetParent !== null);
    if (found) return found;
  }
  return document.getElementById('main');
}
