// The library by artist, genre and decade: picked, jumped to by letter, and kept in the address.
import { expect, test } from './fixtures';

// The mock server does not keep what is changed here.
test.skip(!process.env.SEGUE_BIN && !process.env.SEGUE_URL, 'needs the binary');

test('an artist is jumped to by letter and opens as tracks; the address keeps both', async ({ page }) => {
  await page.goto('/library?view=artists');
  const rows = page.locator('.groups > li');
  await expect(rows.first()).toBeVisible();
  const letters = page.getByRole('navigation', { name: 'Jump to a letter' });
  const last = letters.getByRole('button').last();
  const letter = await last.innerText();
  await last.click();
  const first = page.locator(`[data-letter="${letter}"]`);
  await expect(first).toBeInViewport();
  await expect(first.getByRole('button')).toBeFocused();
  await expect(page).toHaveURL(new RegExp(`letter=${letter}`));
  await page.reload();
  await expect(first).toBeInViewport();

  const name = await first.locator('.track-title').innerText();
  await first.getByRole('button').click();
  await expect(page).toHaveURL(/artist=/);
  await expect(page.locator('.library-row').first()).toContainText(name);
  const { total } = (await (await page.request.get(`/api/library/tracks?artist=${encodeURIComponent(name)}`)).json()) as { total: number };
  await expect(page.locator('.library-row')).toHaveCount(total);
  await page.reload();
  await expect(page.locator('.library-row')).toHaveCount(total);
  await page.goBack();
  await expect(page.getByRole('button', { name: 'Artists' })).toHaveAttribute('aria-pressed', 'true');
  await page.goForward();
  await page.getByRole('button', { name: /Show all tracks/ }).click();
  await expect(page).not.toHaveURL(/artist=/);
  await expect.poll(() => page.locator('.library-row').count()).toBeGreaterThan(total);
});

for (const [view, one] of [
  ['Genres', 'genre'],
  ['Decades', 'decade'],
] as const) {
  test(`${view.toLowerCase()} lead to their tracks`, async ({ page }) => {
    await page.goto('/library');
    await page.getByRole('button', { name: view }).click();
    const row = page.locator('.groups > li').first();
    const n = Number((await row.locator('.track-by').textContent())?.match(/\d+/)?.[0]);
    await row.getByRole('button').click();
    await expect(page).toHaveURL(new RegExp(`${one}=`));
    await expect(page.locator('.library-count')).toHaveText(new RegExp(`^${n} track`));
  });
}

test('a narrow phone shows every view without moving sideways', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  for (const view of ['artists', 'genres', 'decades']) {
    await page.goto(`/library?view=${view}`);
    await expect(page.locator('.groups > li').first()).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  }
});
