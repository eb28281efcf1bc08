// Every view, in both themes, through the accessibility checker.
import { axe } from './axe';
import { answered, ask, box, expect, test, token } from './fixtures';
import { CATALOGUE, INGESTING, refuse, withAbout, withImport } from './played';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`axe finds nothing from moderate upwards (${colorScheme})`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' }, allowedErrors: [/status of (401|429)/] });

    test('in conversations', async ({ page }) => {
      await page.goto('/');
      await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
      expect(await axe(page), 'welcome').toEqual([]);

      await ask(page, 'Is there anything in the Tidal catalogue about night trains?');
      await answered(page);
      await page.locator('.track-head').first().click();
      await page.getByRole('button', { name: 'Interpretation' }).first().click();
      expect(await axe(page), 'opened card').toEqual([]);

      await page.goto('/?agent=tasks');
      await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
      expect(await axe(page), 'welcome to tasks').toEqual([]);
      await ask(page, 'Remind me to buy guitar strings and call the venue');
      await answered(page);
      expect(await axe(page), 'checklist').toEqual([]);

      await page.goto('/');
      await ask(page, `Please take your time ${token()}`);
      await expect(page.getByRole('article', { name: 'Segue' })).toContainText('slow rain');
      await box(page).fill('And then another one');
      await page.keyboard.press('Enter');
      expect(await axe(page), 'running, with a queue').toEqual([]);
      await page.getByRole('button', { name: /Do not send/ }).click();
      await page.keyboard.press('Escape');
      await expect(page.getByText('Stopped', { exact: true })).toBeVisible();

      await page.goto('/');
      await ask(page, `Please break once ${token()}`);
      await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: 20_000 });
      expect(await axe(page), 'failed turn').toEqual([]);
      await page
        .getByRole('button', { name: /More for/ })
        .first()
        .focus();
      await page.keyboard.press('Enter');
      await expect(page.getByRole('menu')).toBeVisible();
      expect(await axe(page), 'menu').toEqual([]);
    });

    test('in versions of a question, while it is edited, and when a tool asks', async ({ page }) => {
      await page.goto('/');
      await ask(page, `at once ${token()}`);
      await answered(page);
      await expect(page.getByRole('button', { name: 'Edit question' })).toBeAttached();
      await box(page).press('ArrowUp');
      expect(await axe(page), 'editing').toEqual([]);
      await page.getByRole('textbox', { name: 'Edit your question' }).fill(`at once ${token()} again`);
      await page.keyboard.press('Enter');
      await answered(page);
      await expect(page.getByRole('group', { name: 'Versions of this question' })).toBeVisible();
      expect(await axe(page), 'versions').toEqual([]);
      await page.goto('/');
      await ask(page, `a postcard ${token()}`);
      await expect(page.getByRole('button', { name: 'Refuse' })).toBeEnabled({ timeout: 30_000 });
      expect(await axe(page), 'consent').toEqual([]);
      await page.getByRole('button', { name: 'Refuse' }).click();
      await expect(page.getByText('Refused. Nothing was done.')).toBeVisible();
      expect(await axe(page), 'refused').toEqual([]);
    });

    test('on every other page', async ({ page }) => {
      await page.goto('/');
      await ask(page, 'Make a playlist for a quiet evening');
      await answered(page);
      for (const path of ['/tasks', '/library', '/library?view=albums', '/library?view=meaning', '/playlists', '/settings']) {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await page.waitForLoadState('networkidle');
        expect(await axe(page), path).toEqual([]);
      }
      await page.goto('/playlists');
      await page
        .getByRole('link', { name: /Lamplight/ })
        .first()
        .click();
      await page.locator('.track-head').first().click();
      await expect(page.getByText('Energy', { exact: true })).toBeVisible();
      expect(await axe(page), 'opened playlist').toEqual([]);

      await page.goto('/library');
      await page.locator('.library-row').first().click();
      await expect(page.getByRole('dialog').getByText('Energy', { exact: true })).toBeVisible();
      expect(await axe(page), 'track').toEqual([]);
      await page.getByRole('button', { name: 'Remove from library' }).click();
      await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
      expect(await axe(page), 'toast').toEqual([]);
      await page.getByRole('button', { name: 'Undo' }).click();
    });

    test('on the first day, when a message is refused, and in the palette', async ({ page }) => {
      await page.route('**/api/library/tracks?*', (route) => route.fulfill({ json: { tracks: [], total: 0 } }));
      await page.goto('/');
      await page.getByRole('button', { name: 'Paste a list' }).click();
      expect(await axe(page), 'first day').toEqual([]);

      await page.route('**/api/chat/stream', (route) => refuse(route, 429, 'RATE_LIMITED', 'Too many messages.'));
      await ask(page, 'Are you there?');
      await expect(page.getByText('Not sent. Too many messages.')).toBeVisible();
      expect(await axe(page), 'refused').toEqual([]);

      await page.keyboard.press('Control+k');
      await expect(page.getByRole('combobox', { name: 'Find anything' })).toBeFocused();
      expect(await axe(page), 'palette').toEqual([]);
      await page.keyboard.type('keyboard');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
      expect(await axe(page), 'shortcuts').toEqual([]);
    });

    test('where music comes in', async ({ page }) => {
      await withImport(page);
      await withAbout(page, { features: ['import', 'ingest', 'catalogue'], tidal: true });
      await page.route('**/api/index', (route) => route.fulfill({ json: INGESTING }));
      await page.route('**/api/tools/tidalSearch', (route) => route.fulfill({ json: CATALOGUE }));
      await page.goto('/library');
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'choose files' }).click();
      await (await choosing).setFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('Title,Artist\n') });
      for (const more of ['Unreadable (1)', /^From your imports/, 'What failed, and why']) await page.getByText(more).click();
      expect(await axe(page), 'import').toEqual([]);

      await page.getByRole('button', { name: 'Add music' }).click();
      await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('elsewhere');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('button', { name: 'Add Elsewhere' })).toBeVisible();
      expect(await axe(page), 'catalogue').toEqual([]);
    });

    test('on the sign-in page and on a phone', async ({ page }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto('/');
      await page.getByRole('button', { name: 'Open menu' }).click();
      await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
      expect(await axe(page), 'drawer').toEqual([]);
      for (const path of ['/', '/tasks', '/library', '/settings']) {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await page.waitForLoadState('networkidle');
        expect(await axe(page), `${path} on a phone`).toEqual([]);
      }
      await page.route('**/api/me', (route) => refuse(route, 401, 'UNAUTHORIZED', 'Sign in first.'));
      await page.route('**/api/auth/sign-in', (route) => refuse(route, 401, 'UNAUTHORIZED', 'Name or password is wrong.'));
      await withAbout(page, { mode: 'accounts' });
      await page.goto('/');
      await page.getByLabel('Name').fill('ann');
      await page.getByLabel('Password').fill('wrong');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('alert')).toBeVisible();
      expect(await axe(page), 'sign in').toEqual([]);
      await page.getByRole('button', { name: 'I have an invitation' }).click();
      expect(await axe(page), 'sign up').toEqual([]);
    });
  });
}
