/** The list with one item in another place; nothing when it is there already or not in the list. */
export function moved<T extends { itemId: string }>(items: T[], itemId: string, to: number): T[] | null {
  const from = items.findIndex((item) => item.itemId === itemId);
  const place = Math.max(0, Math.min(items.length - 1, to));
  if (from < 0 || from === place) return null;
  const rest = items.filter((item) => item.itemId !== itemId);
  return [...rest.slice(0, place), items[from]!, ...rest.slice(place)];
}
