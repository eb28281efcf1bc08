// The library by hand: what is removed comes back, whole folders come in.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures';
import { withImport } from './played';

test('a removed track that is found by meaning can be added again', async ({ page }) => {
  await page.goto('/library?view=meaning');
  await page.getByRole('searchbox', { name: 'Find in your library' }).fill('rain on glass');
  const owned = page.locator('.track').filter({ hasText: 'In library' }).first();
  await owned.locator('.track-head').click();
  const title = await owned.locator('.track-title').innerText();
  const row = page.locator('.track').filter({ has: page.getByText(title, { exact: true }) });
  await row.getByRole('button', { name: `More for ${title}` }).click();
  await page.getByRole('menuitem', { name: 'Remove from library' }).click();
  await expect(row.getByText('In library')).toHaveCount(0);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.reload();
  await expect(row.getByText('In library')).toHaveCount(0);
  await row.getByRole('button', { name: `Add ${title} to library` }).click();
  await expect(row.getByText('In library')).toBeVisible();
  await page.reload();
  await expect(row.getByText('In library')).toBeVisible();
});

/** Drops real files and folders of the disk, as a file manager would. */
async function drop(page: Page, paths: string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  const dispatch = (type: 'dragEnter' | 'dragOver' | 'drop') => devtools.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
  const zone = page.getByRole('region', { name: 'Import' });
  // The browser drops nothing before the page has said that it takes files, and may lose the first events of a drag.
  await expect(async () => {
    await dispatch('dragEnter');
    await dispatch('dragOver');
    if (await zone.count()) await expect(zone).toHaveAttribute('data-over', 'true', { timeout: 500 });
  }).toPass();
  await dispatch('drop');
}

/** Drops them again while the page shows nothing: on a busy machine the browser sometimes loses a whole drag. */
async function dropUntil(page: Page, paths: string[], text: string | RegExp): Promise<void> {
  await expect(async () => {
    await drop(page, paths);
    await expect(page.getByText(text)).toBeVisible({ timeout: 4000 });
  }).toPass();
}

test('a dropped folder is walked to its leaves', async ({ page }) => {
  const { done } = await withImport(page);
  const folder = mkdtempSync(join(tmpdir(), 'segue-folder-'));
  mkdirSync(join(folder, 'a', 'b'), { recursive: true });
  writeFileSync(join(folder, 'top.csv'), 'title,artist\nLow Tide,Ivy Marlow\n');
  writeFileSync(join(folder, 'a', 'b', 'deep.m3u8'), '#EXTM3U\n');
  writeFileSync(join(folder, 'a', 'cover.jpg'), 'not music');
  writeFileSync(join(folder, '.DS_Store'), 'not music');
  await page.goto('/library');
  await expect(page.getByRole('region', { name: 'Import' })).toBeVisible();
  await dropUntil(page, [folder], /1 new/);
  expect(done.filter((what) => what.startsWith('import'))).toHaveLength(1);
  expect(done.join()).toContain('top.csv');
  expect(done.join()).toContain('deep.m3u8');
  expect(done.join()).not.toContain('cover.jpg');
  expect(done.join()).not.toContain('DS_Store');
});

test('a folder without music says so, not that the server is away', async ({ page }) => {
  await withImport(page);
  const folder = mkdtempSync(join(tmpdir(), 'segue-folder-'));
  writeFileSync(join(folder, 'letter.pdf'), 'not music');
  await page.goto('/library');
  await expect(page.getByRole('region', { name: 'Import' })).toBeVisible();
  await dropUntil(page, [folder], 'There is nothing to import in there');
  await expect(page.getByText('cannot be reached')).toHaveCount(0);
});

test('words, order and place are in the address and come back', async ({ page }) => {
  await page.goto('/library');
  await page.getByLabel('Sort').selectOption('Title');
  await expect(page).toHaveURL(/sort=title/);
  await expect(page.locator('.library-row').first()).toBeVisible();
  await page.locator('.page').evaluate((element) => element.scrollTo(0, 3000));
  await expect(page).toHaveURL(/at=\d\d/);
  const row = page.locator('.library-row').nth(15);
  const title = await row.locator('.track-title').innerText();
  await page.getByRole('link', { name: 'Playlists' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Playlists' })).toBeVisible();
  await page.goBack();
  const again = page.locator('.library-row').filter({ hasText: title }).first();
  await expect(again).toBeInViewport();
  await page.reload();
  await expect(again).toBeInViewport();

  await page.getByRole('searchbox', { name: 'Find in your library' }).fill(title);
  await expect(page).toHaveURL(/q=/);
  await page.reload();
  await expect(page.getByRole('searchbox', { name: 'Find in your library' })).toHaveValue(title);
  await page.goto('/library?view=foo');
  await expect(page.locator('.library-row').first()).toBeVisible();
});

test('Back does not reopen what was closed', async ({ page }) => {
  await page.goto('/playlists');
  await page.getByRole('link', { name: 'Library' }).click();
  await page.locator('.library-row').first().click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Playlists' })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('the report says each thing once and folds the noise', async ({ page }) => {
  await withImport(page);
  const silent = { MusicBrainz: 'dns error: no such host', Deezer: 'dns error: no such host' };
  const file = { kind: 'table', read: 1, tracks: 1, matched: 0, ambiguous: 0, unmatched: 1, unusable: 0, leftOut: {}, silent };
  await page.route('**/api/library/import', (route) =>
    route.fulfill({
      status: 201,
      json: {
        read: 2,
        tracks: 2,
        matched: 0,
        added: 2,
        alreadyThere: 0,
        ambiguous: [],
        unmatched: [],
        failures: [],
        files: [
          { ...file, file: 'a.csv' },
          { ...file, file: 'b.csv' },
        ],
      },
    }),
  );
  await page.goto('/library');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'choose files' }).click();
  await (await chooser).setFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('title,artist\n') });
  await expect(page.getByText('MusicBrainz and Deezer could not be asked.')).toHaveCount(1);
  await expect(page.getByText(/dns error/)).toHaveCount(1);
  await expect(page.getByText(/dns error/)).toBeHidden();
});

test('a file dropped on another page is imported by the library', async ({ page }) => {
  const { done } = await withImport(page);
  const folder = mkdtempSync(join(tmpdir(), 'segue-folder-'));
  writeFileSync(join(folder, 'mine.csv'), 'title,artist\nLow Tide,Ivy Marlow\n');
  await page.goto('/');
  await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
  await drop(page, [join(folder, 'mine.csv')]);
  await expect(page).toHaveURL(/\/library/);
  await expect.poll(() => done.join()).toContain('mine.csv');
});
