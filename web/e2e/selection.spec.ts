// Several tracks of the library at once.
import type { Page } from '@playwright/test';
import { axe } from './axe';
import { box, expect, test, token } from './fixtures';

const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected tracks' });
const checkbox = (page: Page, row: number) => page.locator('.library-list > li').nth(row).getByRole('checkbox');
const titles = async (page: Page) => page.locator('.library-list .track-title').allInnerTexts();

async function open(page: Page): Promise<string[]> {
  await page.goto('/library?sort=title');
  await expect(page.locator('.library-row').first()).toBeVisible();
  return titles(page);
}

test('a range is selected with Shift, put on a playlist, and the selection ends', async ({ page }) => {
  await open(page);
  await page.locator('.library-list > li').first().hover();
  await checkbox(page, 0).click();
  await expect(bar(page)).toContainText('1 selected');
  await checkbox(page, 3).click({ modifiers: ['Shift'] });
  await expect(bar(page)).toContainText('4 selected');
  expect(await axe(page)).toEqual([]);
  // Once tracks are selected, a press on a row selects it too.
  await page.locator('.library-row').nth(1).click();
  await expect(bar(page)).toContainText('3 selected');
  await bar(page).getByRole('button', { name: 'Add to playlist' }).click();
  const name = `Chosen ${token()}`;
  await page.getByRole('textbox', { name: 'Title of a new playlist' }).fill(name);
  await page.keyboard.press('Enter');
  await expect(page.getByText(`Added 3 tracks to “${name}”`)).toBeVisible();
  await expect(bar(page)).toHaveCount(0);
  await page.goto('/playlists');
  await expect(page.getByRole('link', { name: new RegExp(name) }).or(page.getByRole('button', { name: new RegExp(name) }))).toContainText(
    '3 tracks',
  );
});

test('Ctrl A selects the whole library, Escape lets go of it', async ({ page }) => {
  await open(page);
  const { total } = (await (await page.request.get('/api/library/tracks?limit=1')).json()) as { total: number };
  await page.locator('.library-row').first().focus();
  await page.keyboard.press('Control+a');
  await expect(bar(page)).toContainText(`${total} selected`);
  await expect(bar(page).getByRole('button', { name: 'Ask about these' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(bar(page)).toHaveCount(0);
  await expect(page.locator('.library-row').first()).toBeFocused();
});

test('selected tracks are removed in one step and brought back in one', async ({ page }) => {
  const [first, second, third] = await open(page);
  await page
    .locator('.library-row')
    .first()
    .click({ modifiers: ['Control'] });
  await page.locator('.library-row').nth(1).click();
  await bar(page).getByRole('button', { name: 'Remove from library' }).click();
  await expect(page.getByText('Removed 2 tracks from the library')).toBeVisible();
  await expect(page.locator('.library-list .track-title').first()).toHaveText(third!);
  await expect(bar(page)).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(page.locator('.library-list .track-title').first()).toHaveText(first!);
  await expect(page.locator('.library-list .track-title').nth(1)).toHaveText(second!);
});

test('a question about the selected tracks waits in the composer', async ({ page }) => {
  const [first, second] = await open(page);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await checkbox(page, 0).check();
  await checkbox(page, 1).check();
  await bar(page).getByRole('button', { name: 'Ask about these' }).click();
  await expect(box(page)).toBeFocused();
  await expect(box(page)).toHaveValue(new RegExp(`^About “${escaped(first!)}” by .+, “${escaped(second!)}” by .+: $`));
});

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
