// Answers of servers set up differently than the one under test: played into the page, in the shapes the real one has.
import type { Page, Route } from '@playwright/test';
import type { About, ImportAnswer, IngestStatus, OpenItem, TidalSearchOutput, TrackResult } from '../src/api/types';

export async function withAbout(page: Page, change: Partial<About>): Promise<void> {
  const about = (await (await page.request.get('/api/about')).json()) as About;
  await page.route('**/api/about', (route) => route.fulfill({ json: { ...about, ...change } }));
}

export const refuse = (route: Route, status: number, code: string, message: string) =>
  route.fulfill({ status, json: { error: { code, message, details: [] } } });

export const FOUND: TrackResult = {
  trackId: '58534755-4532-8363-8036-393939390000',
  isrc: 'XSGUE2699999',
  title: 'Elsewhere',
  artist: 'New Here',
  album: 'Harbour',
  inLibrary: false,
  isIndexed: false,
};

export const CATALOGUE: TidalSearchOutput = {
  tracks: [FOUND],
  albums: [{ id: '77', title: 'Harbour', artist: 'New Here', trackCount: 9, inLibrary: true }],
  query: 'elsewhere',
  totalFound: { tracks: 1, albums: 1 },
  summary: "Found 1 album and 1 track for 'elsewhere'",
  durationMs: 5,
};

const entry = (id: number, line: number, title: string, candidates?: OpenItem['candidates']) =>
  ({
    id: `00000000-0000-4000-8000-00000000000${id}`,
    file: 'mine.csv',
    line,
    title,
    artist: 'Ivy Marlow',
    outcome: candidates ? 'ambiguous' : 'unmatched',
    reason: candidates ? 'two recordings fit as well' : 'no catalogue knows it',
    ...(candidates && { candidates }),
  }) as OpenItem;

/** As the server leaves it open after `mine.csv`: one entry fits two recordings, one fits none. */
export const OPEN: OpenItem[] = [
  entry(1, 2, 'Low Tide', [
    {
      isrc: 'QZXYZ1900001',
      title: 'Low Tide',
      artist: 'Ivy Marlow',
      album: 'Harbour Lights',
      duration: 200,
      source: 'Tidal',
      confidence: 0.91,
      reason: 'title and artist fit',
    },
    {
      isrc: 'QZXYZ1900002',
      title: 'Low Tide (Live)',
      artist: 'Ivy Marlow',
      duration: 240,
      source: 'MusicBrainz',
      confidence: 0.84,
      reason: 'title and artist fit',
    },
  ]),
  entry(2, 3, 'Nobody Knows This'),
];

export const REPORT: ImportAnswer = {
  read: 5,
  tracks: 4,
  matched: 2,
  added: 1,
  alreadyThere: 1,
  ambiguous: OPEN.slice(0, 1),
  unmatched: OPEN.slice(1),
  failures: [{ file: 'mine.csv', line: 6, reason: 'there is no title' }],
  files: [
    {
      file: 'mine.csv',
      kind: 'table',
      read: 5,
      tracks: 4,
      matched: 2,
      ambiguous: 1,
      unmatched: 1,
      unusable: 1,
      leftOut: { 'a podcast': 2 },
      silent: { MusicBrainz: 'there was no time for everything' },
    },
  ],
};

export const INGESTING: IngestStatus = {
  hasSample: true,
  tracks: 120,
  pending: 30,
  engine: 'embedded',
  embedder: 'built-in',
  failed: 1,
  lookingFor: 2,
  failures: [
    {
      trackId: '58534755-4532-8363-8030-303037000000',
      isrc: 'XSGUE2600007',
      title: 'Sodium',
      artist: 'Latchkey Physics',
      step: 'features',
      reason: 'ReccoBeats answered 500 three times',
      at: '2026-11-01T10:00:00Z',
    },
  ],
  steps: {
    lyrics: { done: 140, waiting: 8, running: 2, failed: 0, off: 0 },
    features: { done: 100, waiting: 49, running: 0, failed: 1, off: 0 },
    describe: { done: 130, waiting: 20, running: 0, failed: 0, off: 0 },
    index: { done: 120, waiting: 30, running: 0, failed: 0, off: 0 },
  },
};

/** A server that imports, and remembers what was done about the open entries. */
export async function withImport(page: Page) {
  let open: OpenItem[] = [];
  const done: string[] = [];
  await withAbout(page, { features: ['import', 'ingest'] });
  await page.route('**/api/library/import', (route) => {
    done.push(`import ${(route.request().postData() ?? '').match(/filename="[^"]+"/g)?.join(' ')}`);
    open = OPEN;
    return route.fulfill({ status: 201, json: REPORT });
  });
  await page.route(/\/api\/library\/unmatched(\?|$)/, (route) => route.fulfill({ json: { entries: open } }));
  await page.route('**/api/library/unmatched/*', (route) => {
    const id = new URL(route.request().url()).pathname.split('/').at(-1);
    done.push([route.request().method(), id?.slice(-1), route.request().postData()].filter(Boolean).join(' '));
    if (id === 'retry') return route.fulfill({ status: 202, json: { entries: open.length } });
    open = open.filter((one) => one.id !== id);
    return route.request().method() === 'DELETE'
      ? route.fulfill({ status: 204 })
      : route.fulfill({ json: { ...FOUND, addedAt: '2026-11-01T10:00:00Z' } });
  });
  await page.route('**/api/library/unmatched/*/restore', (route) => {
    const id = new URL(route.request().url()).pathname.split('/').at(-2);
    done.push(`restore ${id?.slice(-1)}`);
    open = [...open, ...OPEN.filter((one) => one.id === id)];
    return route.fulfill({ status: 204 });
  });
  return { done };
}
