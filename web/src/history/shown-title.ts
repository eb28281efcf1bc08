// Titles of conversations in the page's language: the server makes them in English from what was found.
import { count } from '../ui/format';

interface Titled {
  title: string;
  /** False: a person or a model wrote it. Absent: not known, so its end decides. */
  titleIsFound?: boolean;
}

/** “Rain · 20 tracks, 1 album”. */
const COUNTS = / · \d+ (?:tracks?|albums?)(?:, \d+ albums?)?$/;

export function shownTitle({ title, titleIsFound }: Titled): string {
  if (titleIsFound === false) return title;
  return title.replace(COUNTS, (counts) => counts.replace(/(\d+) (track|album)s?/g, (_, n, kind) => counted(Number(n), kind)));
}

const counted = (n: number, kind: string): string => (kind === 'track' ? count(n, 'track') : count(n, 'album'));
