// States of a server that cannot be caused on purpose: half-done enrichment, a refusal, an absence. Its answers are written here.
import type { IngestStatus } from '../src/api/types';
import { expect, test } from './fixtures';
import { INGESTING, refuse, withAbout, withImport } from './played';

test('what the server cannot do is not shown', async ({ page }) => {
  await withAbout(page, { features: [], tidal: false });
  await page.goto('/library');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByRole('button', { name: 'Add music' })).toHaveCount(0);
  await expect(page.getByText('Drop exports')).toHaveCount(0);
});

test('a dropped file is imported, and what it leaves open is settled', async ({ page }) => {
  const { done } = await withImport(page);
  await page.goto('/library');
  await expect(page.getByText('Drop exports')).toBeVisible();
  const dropped = await page.evaluateHandle(() => {
    const files = new DataTransfer();
    files.items.add(new File(['Title,Artist\n'], 'mine.csv', { type: 'text/csv' }));
    return files;
  });
  // Anywhere on the page, not only on the box.
  await page.getByRole('heading', { level: 1 }).dispatchEvent('dragover', { dataTransfer: dropped });
  await expect(page.locator('.import-zone')).toHaveAttribute('data-over', 'true');
  await page.getByRole('heading', { level: 1 }).dispatchEvent('drop', { dataTransfer: dropped });
  await expect(page.getByText('4 tracks · 1 new · 1 already there · 1 to choose · 1 not found yet · 1 unreadable')).toBeVisible();
  await expect(page.getByText('MusicBrainz could not be asked. It is asked again later.')).toBeVisible();
  await page.getByText('About this file').click();
  await expect(page.getByText('mine.csv (table), 5 entries. 2 left out: a podcast')).toBeVisible();
  await page.getByText('Unreadable (1)').click();
  await expect(page.getByText('mine.csv, line 6: there is no title')).toBeVisible();

  await page.getByText('From your imports: 1 to choose, 1 not found yet').click();
  await page.getByRole('button', { name: /Low Tide \(Live\).*MusicBrainz.*84%/ }).click();
  await expect(page.getByText('Added “Low Tide (Live)” to your library')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Which one is it?' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(page.getByText('Looking again for 1 entry')).toBeVisible();
  await page.getByRole('button', { name: 'Forget Nobody Knows This' }).click();
  await expect(page.getByText('From your imports')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect(page.getByText('From your imports: 1 not found yet')).toBeVisible();
  expect(done).toEqual(['import filename="mine.csv"', 'POST 1 {"isrc":"QZXYZ1900002"}', 'POST y {}', 'DELETE 2', 'restore 2']);
});

test.describe('a file that cannot be read', () => {
  test.use({ allowedErrors: [/status of 400/] });

  test('is refused in the words of the server', async ({ page }) => {
    await withImport(page);
    await page.route('**/api/library/import', (route) => refuse(route, 400, 'VALIDATION_ERROR', 'line 2: this is not JSON'));
    await page.goto('/library');
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'choose files' }).click();
    await (await choosing).setFiles({ name: 'history.json', mimeType: 'application/json', buffer: Buffer.from('[{') });
    await expect(page.getByRole('alert')).toHaveText('line 2: this is not JSON');
  });
});

test('indexing shows how far it has come and what failed, to its end', async ({ page }) => {
  let status: IngestStatus = INGESTING;
  await page.route('**/api/index', (route) => route.fulfill({ json: status }));
  await page.goto('/library');
  await expect(page.getByText('Reading: 120 of 150 tracks · looking for 2 more · 1 step failed')).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Reading' })).toHaveAttribute('value', '120');
  await expect(page.getByText('140 of 150')).toBeVisible();
  await page.getByText('What failed, and why').click();
  await expect(page.getByText('Sodium by Latchkey Physics. Sound: ReccoBeats answered 500 three times')).toBeVisible();
  status = { ...INGESTING, tracks: 150, pending: 0, lookingFor: 0, failed: 0, failures: [], steps: {} };
  await expect(page.getByText('150 tracks can be searched')).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveCount(0);
});

test.describe('while the server is away', () => {
  test.use({ allowedErrors: [/ERR_CONNECTION_REFUSED|Failed to load resource/] });

  test('the page says so and comes back by itself', async ({ page }) => {
    let away = true;
    await page.route('**/api/**', (route) => (away ? route.abort('connectionrefused') : route.fallback()));
    await page.goto('/tasks');
    await expect(page.getByText('Segue does not answer')).toBeVisible();
    away = false;
    await expect(page.getByText('Segue does not answer')).toHaveCount(0, { timeout: 15_000 });
    await expect(page.getByRole('textbox', { name: 'New task' })).toBeVisible();
  });
});

test.describe('when a part of the page cannot be had', () => {
  test.use({ allowedErrors: [/ERR_FAILED|Failed to load resource|dynamically imported module|drawing failed/] });

  test('the rest of it goes on', async ({ page }) => {
    await page.route('**/assets/library-page*.js', (route) => route.abort());
    await page.goto('/');
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'The page broke' })).toBeVisible();
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible();
    await page.unroute('**/assets/library-page*.js');
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await page.getByRole('button', { name: 'Load it again' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Library' })).toBeVisible();
  });
});

test.describe('when the server refuses a message', () => {
  test.use({ allowedErrors: [/status of 429/] });

  test('it says why and takes it a moment later, once', async ({ page }) => {
    let refusals = 1;
    const ids: string[] = [];
    await page.route('**/api/chat/stream', (route) => {
      ids.push((route.request().postDataJSON() as { clientMessageId: string }).clientMessageId);
      if (refusals-- <= 0) return route.fallback();
      return route.fulfill({
        status: 429,
        headers: { 'retry-after': '2' },
        json: { error: { code: 'RATE_LIMITED', message: 'Too many messages.' } },
      });
    });
    await page.goto('/');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Songs for a rainy night drive');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Not sent. Too many messages.')).toBeVisible();
    await expect(page.getByRole('button', { name: /Try again in \d s/ })).toBeDisabled();
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await expect(page.getByRole('button', { name: 'More about this answer' })).toBeVisible({ timeout: 20_000 });
    await expect(page.getByRole('article', { name: 'You' })).toHaveCount(1);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });
});
