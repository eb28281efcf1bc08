// Titles of conversations in the page's language: the server makes them in English from what was found.
import { count } from '../ui/format';

/** “Rain · 20 tracks, 1 album”. A title that a person gave such an end is translated too. */
const COUNTS = / · \d+ (?:tracks?|albums?)(?:, \d+ albums?)?$/;

export function shownTitle({ title }: { title: string }): string {
  return title.replace(COUNTS, (counts) => counts.replace(/(\d+) (track|album)s?/g, (_, n, kind) => counted(Number(n), kind)));
}

const counted = (n: number, kind: string): string => (kind === 'track' ? count(n, 'track') : count(n, 'album'));
