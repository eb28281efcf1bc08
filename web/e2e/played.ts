// Answers of servers set up differently than the one under test: played into the page, in the shapes the real one has.
import type { Page, Route } from '@playwright/test';
import type { About, TidalSearchOutput, TrackResult } from '../src/api/types';

export async function withAbout(page: Page, change: Partial<About>): Promise<void> {
  await page.route('**/api/about', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: { ...((await response.json()) as About), ...change } });
  });
}

export const refuse = (route: Route, status: number, code: string, message: string) =>
  route.fulfill({ status, json: { error: { code, message, details: [] } } });

export const FOUND: TrackResult = { isrc: 'XSGUE2699999', title: 'Elsewhere', artist: 'New Here', album: 'Door', inLibrary: false, isIndexed: false };

export const CATALOGUE: TidalSearchOutput = {
  tracks: [FOUND],
  albums: [{ id: '77', title: 'Door', artist: 'New Here', trackCount: 9, inLibrary: true }],
  query: 'elsewhere',
  totalFound: { tracks: 1, albums: 1 },
  summary: "Found 1 album and 1 track for 'elsewhere'",
  durationMs: 5,
};

export const REPORT = { read: 3, matched: 1, added: 1, ambiguous: [], unmatched: [{ line: 3, title: 'Nobody Knows This', artist: 'Nobody', reason: 'no source knows it' }] };
