// What depends on how a server is set up: sign-in, import, catalogue; and a server that is away. Its answers are played here.
import type { Page, Route } from '@playwright/test';
import { expect, test } from './fixtures';

type About = Record<string, unknown> & { features?: string[] };

async function withAbout(page: Page, change: About): Promise<void> {
  await page.route('**/api/about', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: { ...((await response.json()) as About), ...change } });
  });
}

const refuse = (route: Route, status: number, code: string, message: string) => route.fulfill({ status, json: { error: { code, message } } });

test.describe('where accounts are kept', () => {
  test.use({ allowedErrors: [/status of 401/] });

  test('a person signs in, and out again', async ({ page }) => {
    let signedIn = false;
    await page.route('**/api/**', (route) => (signedIn ? route.fallback() : refuse(route, 401, 'UNAUTHORIZED', 'Sign in first.')));
    await page.route('**/api/auth/sign-in', (route) => {
      const { name, password } = route.request().postDataJSON() as { name: string; password: string };
      if (name !== 'ann' || password !== 'opensesame') return refuse(route, 401, 'UNAUTHORIZED', 'Name or password is wrong.');
      signedIn = true;
      return route.fulfill({ status: 204 });
    });
    await page.route('**/api/auth/sign-out', (route) => {
      signedIn = false;
      return route.fulfill({ status: 204 });
    });
    await page.route('**/api/me', (route) => (signedIn ? route.fulfill({ json: { id: '1', name: 'ann', mode: 'accounts' } }) : route.fallback()));
    await withAbout(page, { mode: 'accounts' });

    await page.goto('/settings');
    await expect(page.getByRole('heading', { name: 'Welcome back' })).toBeVisible();
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toHaveText('Name or password is wrong.');
    await page.getByLabel('Password').fill('opensesame');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    await expect(page.getByText('ann', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Welcome back' })).toBeVisible();
  });
});

test('what the server cannot do is not shown', async ({ page }) => {
  await withAbout(page, { features: [], tidal: false });
  await page.goto('/library');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByRole('button', { name: 'Add music' })).toHaveCount(0);
  await expect(page.getByText('Drop a playlist')).toHaveCount(0);
});

test('a dropped file is imported and its report is shown', async ({ page }) => {
  await withAbout(page, { features: ['import'] });
  await page.route('**/api/library/import', (route) => {
    expect(route.request().headers()['content-type']).toContain('multipart/form-data');
    return route.fulfill({
      json: { read: 3, matched: 1, added: 1, ambiguous: [], unmatched: [{ line: 3, title: 'Nobody Knows This', artist: 'Nobody', reason: 'no source knows it' }] },
    });
  });
  await page.goto('/library');
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'choose a file' }).click();
  await (await choosing).setFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('Title,Artist\n') });
  await expect(page.getByText('3 rows read · 1 matched · 1 new · 1 not found')).toBeVisible();
  await page.getByText('Not found (1)').click();
  await expect(page.getByText('Nobody Knows This · Nobody')).toBeVisible();
});

test('music is added from the catalogue', async ({ page }) => {
  await withAbout(page, { features: ['catalogue'], tidal: true });
  let added: unknown;
  const track = { isrc: 'XSGUE2699999', title: 'Elsewhere', artist: 'New Here', album: 'Door', inLibrary: false, isIndexed: false };
  await page.route('**/api/tools/tidalSearch', (route) =>
    route.fulfill({ json: { tracks: [track], albums: [], query: 'elsewhere', totalFound: { tracks: 1, albums: 0 }, summary: 'Found 1 track', durationMs: 5 } }),
  );
  await page.route('**/api/library/tracks', (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    added = route.request().postDataJSON();
    return route.fulfill({ status: 201, json: track });
  });
  await page.goto('/library');
  await page.getByRole('button', { name: 'Add music' }).click();
  await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('elsewhere');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add Elsewhere' }).click();
  await expect(page.getByRole('button', { name: 'Elsewhere is in your library' })).toBeVisible();
  expect(added).toEqual({ isrc: 'XSGUE2699999' });
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

test.describe('when the server refuses a message', () => {
  test.use({ allowedErrors: [/status of 429/] });

  test('it says why and takes it a moment later, once', async ({ page }) => {
    let refusals = 1;
    const ids: string[] = [];
    await page.route('**/api/chat/stream', (route) => {
      ids.push((route.request().postDataJSON() as { clientMessageId: string }).clientMessageId);
      if (refusals-- <= 0) return route.fallback();
      return route.fulfill({ status: 429, headers: { 'retry-after': '7' }, json: { error: { code: 'RATE_LIMITED', message: 'Too many messages.' } } });
    });
    await page.goto('/');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Songs for a rainy night drive');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Too many messages. Try again in 7 s.')).toBeVisible();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText(/tokens in/)).toBeVisible({ timeout: 20_000 });
    await expect(page.getByRole('article', { name: 'You' })).toHaveCount(1);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });
});
