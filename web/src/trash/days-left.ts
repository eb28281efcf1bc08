const DAY_MS = 86_400_000;

/** Days until a time, begun ones counted whole: on the last day there is still one left. */
export function daysLeft(until: string, now = Date.now()): number {
  return Math.max(1, Math.ceil((Date.parse(until) - now) / DAY_MS));
}
