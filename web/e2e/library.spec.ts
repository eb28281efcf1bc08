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
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
  }
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
  await drop(page, [folder]);
  await expect(page.getByText(/1 new/)).toBeVisible();
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
  await drop(page, [folder]);
  await expect(page.getByText('There is nothing to import in there')).toBeVisible();
  await expect(page.getByText('cannot be reached')).toHaveCount(0);
});
