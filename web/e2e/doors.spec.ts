// What depends on how a server is set up: sign-in, import, catalogue; and a server that is away. Its answers are played here.
import type { Page } from '@playwright/test';
import type { IngestStatus } from '../src/api/types';
import { box, expect, test } from './fixtures';
import { CATALOGUE, FOUND, INGESTING, refuse, withAbout, withImport } from './played';

test.describe('where accounts are kept', () => {
  test.use({ allowedErrors: [/status of 401/] });

  for (const width of [1280, 390]) {
    test(`a person signs in, and out again, at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 844 });
      const house = await withAccounts(page);
      await page.goto('/settings');
      await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
      await signIn(page, 'ann', 'wrong');
      await expect(page.getByRole('alert')).toHaveText('Name or password is wrong.');
      await signIn(page, 'ann', 'opensesame');
      await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
      await expect(page.getByText('ann', { exact: true })).toBeVisible();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
      expect(house.who()).toBeNull();
    });
  }

  test('the house is not shown before its door', async ({ page }) => {
    await withAccounts(page);
    const seen: string[] = [];
    await page.exposeFunction('saw', (what: string) => seen.push(what));
    await page.addInitScript(() => {
      new MutationObserver(() => {
        const heading = document.querySelector('h1')?.textContent;
        if (heading) void (window as unknown as { saw: (what: string) => void }).saw(heading);
      }).observe(document, { subtree: true, childList: true });
    });
    await page.goto('/');
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(new Set(seen)).toEqual(new Set(['Sign in']));
  });

  test('unsent words wait for the one who wrote them, and for nobody else', async ({ page }) => {
    const house = await withAccounts(page);
    const back = async (name: string) => {
      house.leave();
      await page.goto('/');
      await signIn(page, name, 'opensesame');
      await expect(box(page)).toBeVisible();
    };
    await back('ann');
    await box(page).fill('a secret of mine');
    await back('ann');
    await expect(box(page)).toHaveValue('a secret of mine');
    await back('bob');
    await expect(box(page)).toHaveValue('');
  });
});

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

/** A server with accounts in front of the one under test. */
async function withAccounts(page: Page) {
  let who: string | null = null;
  const me = () => ({ id: who ?? '', name: who ?? '', mode: 'accounts' });
  await page.route('**/api/**', (route) => (who ? route.fallback() : refuse(route, 401, 'UNAUTHORIZED', 'Sign in first.')));
  await page.route('**/api/auth/sign-in', (route) => {
    const { name, password } = route.request().postDataJSON() as { name: string; password: string };
    if (password !== 'opensesame') return refuse(route, 401, 'UNAUTHORIZED', 'Name or password is wrong.');
    who = name;
    return route.fulfill({ json: me() });
  });
  await page.route('**/api/auth/sign-out', (route) => {
    who = null;
    return route.fulfill({ status: 204 });
  });
  await page.route('**/api/me', (route) => (who ? route.fulfill({ json: me() }) : route.fallback()));
  await withAbout(page, { mode: 'accounts' });
  return { who: () => who, leave: () => (who = null) };
}

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
  await expect(page.getByText('Indexing: 120 of 150 tracks · looking for 2 more · 1 step failed')).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Indexing' })).toHaveAttribute('value', '120');
  await expect(page.getByText('140 of 150')).toBeVisible();
  await page.getByText('What failed, and why').click();
  await expect(page.getByText('Sodium by Latchkey Physics. Sound: ReccoBeats answered 500 three times')).toBeVisible();
  status = { ...INGESTING, tracks: 150, pending: 0, lookingFor: 0, failed: 0, failures: [], steps: {} };
  await expect(page.getByText('150 tracks can be searched')).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveCount(0);
});

test('music is added from the catalogue', async ({ page }) => {
  await withAbout(page, { features: ['catalogue'], tidal: true });
  const written: unknown[] = [];
  await page.route('**/api/tools/tidalSearch', (route) => route.fulfill({ json: CATALOGUE }));
  await page.route('**/api/library/tracks', (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    written.push(route.request().postDataJSON());
    return route.fulfill({ status: 201, json: { ...FOUND, inLibrary: true, addedAt: '2026-11-01T10:00:00Z' } });
  });
  await page.route(`**/api/library/tracks/${FOUND.isrc}`, (route) => {
    written.push(route.request().method());
    return route.fulfill({ status: 204 });
  });
  await page.goto('/library');
  await page.getByRole('button', { name: 'Add music' }).click();
  await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('elsewhere');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Door: In library' })).toBeDisabled();
  await page.getByRole('button', { name: 'Add Elsewhere' }).click();
  await expect(page.getByRole('button', { name: 'Elsewhere: In library' })).toBeVisible();
  // The way back stands inside the dialog: everything outside of it cannot be reached.
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: 'Add Elsewhere' })).toBeEnabled();
  expect(written).toEqual([{ isrc: FOUND.isrc }, 'DELETE']);
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
