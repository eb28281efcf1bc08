// The page in other languages than English: the browser's language, the user's choice, and room for longer words.
import type { Page } from '@playwright/test';
import { axe } from './axe';
import { expect, test } from './fixtures';

const PAGES = ['/', '/?agent=tasks', '/tasks', '/library', '/playlists', '/settings'];

async function opened(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.waitForLoadState('networkidle');
}

test.describe('a browser in German', () => {
  test.use({ locale: 'de-DE' });

  test('is greeted in German, on every page, and axe finds nothing', async ({ page }) => {
    await opened(page, '/');
    await expect(page.getByRole('heading', { name: 'Was möchtest du hören?' })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await expect(page.getByRole('navigation', { name: 'Seiten' }).getByRole('link')).toHaveText(['Aufgaben', 'Bibliothek', 'Playlists']);
    await expect(page.getByText(/Antworten kommen von .+ über 300 Titel\./)).toBeVisible();
    await expect(page.getByRole('list', { name: 'Beispiele' }).getByRole('button').first()).toHaveText(
      'Etwas für eine verregnete Nachtfahrt',
    );
    await expect(page).toHaveTitle('Neuer Chat · Segue');
    for (const path of PAGES) {
      await opened(page, path);
      expect(await axe(page), path).toEqual([]);
    }
  });
});

for (const locale of ['de-DE', 'fr-FR', 'es-ES']) {
  test.describe(`a phone in ${locale}`, () => {
    test.use({ locale, viewport: { width: 320, height: 640 } });

    test('never scrolls sideways', async ({ page }) => {
      for (const path of PAGES) {
        await opened(page, path);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(beyond, path).toBeLessThanOrEqual(0);
      }
    });
  });
}

test('a choice in the settings takes effect at once, is kept, and can be taken back', async ({ page }) => {
  await opened(page, '/settings');
  await page.evaluate(() => Object.assign(window, { notReloaded: true }));
  await page.getByRole('combobox', { name: 'Language' }).selectOption('Français');
  await expect(page.getByRole('heading', { level: 1, name: 'Réglages' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'fr');
  await expect(page.getByRole('combobox', { name: 'Langue' })).toBeFocused();
  await expect(page).toHaveTitle('Réglages · Segue');
  expect(await page.evaluate(() => 'notReloaded' in window)).toBe(true);
  expect(await axe(page)).toEqual([]);

  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Réglages' })).toBeVisible();
  await page.getByRole('combobox', { name: 'Langue' }).selectOption('Comme le navigateur');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
});

test.describe('a language that cannot be loaded', () => {
  test.use({ allowedErrors: [/Failed to load resource|ERR_FAILED|texts of the language/] });

  test('leaves the page as it was, and says so', async ({ page }) => {
    await opened(page, '/settings');
    await page.route('**/assets/es-*.js', (route) => route.abort());
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Español');
    await expect(page.getByText('The language could not be loaded. Try again when the server can be reached.')).toBeVisible();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    await expect(page.getByRole('combobox', { name: 'Language' })).toHaveValue('');
    await page.unroute('**/assets/es-*.js');
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Español');
    await expect(page.getByRole('heading', { level: 1, name: 'Ajustes' })).toBeVisible();
  });
});
