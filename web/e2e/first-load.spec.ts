// What a first visit costs before the first example can be clicked: measured on the wire, not guessed from the build.
import { gzipSync } from 'node:zlib';
import type { Response } from '@playwright/test';
import { expect, test } from './fixtures';

const BUDGET_KB = 200;
const kb = (bytes: number) => Number((bytes / 1024).toFixed(1));

test('the first visit loads less than 200 KB of script', async ({ page }) => {
  const responses: Response[] = [];
  page.on('response', (response) => responses.push(response));
  await page.goto('/');
  await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
  const usableMs = await page.evaluate(() => Math.round(performance.now()));
  await page.waitForLoadState('networkidle');

  const scripts = responses.filter((response) => response.request().resourceType() === 'script');
  const wire = async (some: Response[]) =>
    (await Promise.all(some.map((response) => response.request().sizes()))).reduce((sum, size) => sum + size.responseBodySize, 0);
  // Packed here as well, so that the figure does not depend on how the server in between compresses.
  const gzip = (await Promise.all(scripts.map((script) => script.body()))).reduce(
    (sum, body) => sum + gzipSync(body, { level: 9 }).length,
    0,
  );
  const report = {
    scripts: scripts.map((script) => new URL(script.url()).pathname),
    scriptGzipKB: kb(gzip),
    scriptOnTheWireKB: kb(await wire(scripts)),
    requests: responses.length,
    everythingOnTheWireKB: kb(await wire(responses)),
    usableMs,
  };
  console.log('first visit:', JSON.stringify(report));
  expect(report.scriptGzipKB).toBeLessThan(BUDGET_KB);
  expect(report.scripts.filter((path) => /library-page|playlists-page|settings-page/.test(path))).toEqual([]);
});
