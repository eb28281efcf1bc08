// While the server is away.
import { ask, expect, test, token } from './fixtures';

test.use({ allowedErrors: [/Failed to load resource|ERR_|dynamically imported module|Failed to fetch/] });

test('a page not yet visited waits for the server and comes by itself', async ({ page }) => {
  let away = true;
  const gone = (route: import('@playwright/test').Route) => (away ? route.abort() : route.continue());
  await page.route('**/assets/library-page*', gone);
  await page.route('**/healthz', gone);
  await page.goto('/');
  await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
  await page.getByRole('link', { name: 'Library' }).click();
  await expect(page.getByRole('status', { name: 'Loading the page' })).toBeVisible();
  await expect(page.getByText('The page broke')).toHaveCount(0);
  away = false;
  await expect(page.getByRole('heading', { level: 1, name: 'Library' })).toBeVisible({ timeout: 15_000 });
});

test('every page is fetched ahead, so it opens without a network', async ({ page, context }) => {
  const fetched = page.waitForResponse(/assets\/playlists-page/);
  await page.goto('/');
  await fetched;
  await page.waitForLoadState('networkidle');
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Playlists' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Playlists' })).toBeVisible();
});

test('an address without a page says so', async ({ page }) => {
  await page.goto('/nonsense');
  await expect(page.getByRole('heading', { name: 'There is no page at this address' })).toBeVisible();
  await page.goto('/playlists?id=00000000-0000-4000-8000-000000000000');
  await expect(page.getByRole('link', { name: 'All playlists' })).toBeVisible();
});

test('text of any direction starts on its own side', async ({ page }) => {
  await page.goto('/');
  await ask(page, `أريد أغاني هادئة ${token()}`);
  const bubble = page.locator('.bubble');
  await expect(bubble).toHaveAttribute('dir', 'auto');
  await expect(bubble).toHaveCSS('direction', 'rtl');
  await expect(page.locator('.entry-words > span').first()).toHaveAttribute('dir', 'auto');
});
