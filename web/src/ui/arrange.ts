// Arranging the rows of a list with the pointer. Each row has its id in `data-item`.

export interface Dragging {
  id: string;
  /** The place it would take now. */
  to: number;
}

/** Which row is being dragged, and between which rows it would land. */
export function marks(dragging: Dragging | null, ids: string[], row: number): Record<string, string> {
  if (!dragging) return {};
  const from = ids.indexOf(dragging.id);
  if (row === from) return { 'data-dragged': 'true' };
  if (row !== dragging.to) return {};
  return { 'data-drop': dragging.to > from ? 'after' : 'before' };
}

/** The place a row takes when it is let go at a height of the window. */
export function placeAt(list: HTMLElement | null, id: string): (y: number) => number {
  return (y) => {
    const others = [...(list?.querySelectorAll<HTMLElement>('[data-item]') ?? [])].filter((row) => row.dataset.item !== id);
    return others.filter((row) => middle(row) < y).length;
  };
}

function middle(row: HTMLElement): number {
  const { top, height } = row.getBoundingClientRect();
  return top + height / 2;
}

/** Follows the pointer until it is let go; Escape gives up. */
export function drag(
  id: string,
  place: (y: number) => number,
  show: (dragging: Dragging | null) => void,
  drop: (to: number) => void,
): void {
  const controller = new AbortController();
  const { signal } = controller;
  const end = (event?: PointerEvent) => {
    controller.abort();
    show(null);
    if (event) drop(place(event.clientY));
  };
  const onMove = (event: PointerEvent) => show({ id, to: place(event.clientY) });
  window.addEventListener('pointermove', onMove, { signal });
  window.addEventListener('pointerup', end, { signal });
  window.addEventListener('pointercancel', () => end(), { signal });
  window.addEventListener('keydown', (event) => event.key === 'Escape' && end(), { signal });
}
