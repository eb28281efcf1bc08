// The first day: an empty library, a guest, and what can be asked after an import.
import { answered, answers, ask, clearTasks, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';
import { withAbout } from './played';

const emptyLibrary = { tracks: [], total: 0 };

test('an empty library greets with two ways to begin', async ({ page }) => {
  await page.route('**/api/library/tracks?*', (route) => route.fulfill({ json: emptyLibrary }));
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Bring your music' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Look around with the sample' })).toBeVisible();
  await expect(page.getByRole('list', { name: 'Examples' })).toHaveCount(0);

  let imported = '';
  await page.route('**/api/library/import', (route) => {
    imported = route.request().postData() ?? '';
    return route.fulfill({
      status: 201,
      json: { read: 1, tracks: 1, matched: 1, added: 1, alreadyThere: 0, ambiguous: [], unmatched: [], failures: [], files: [] },
    });
  });
  await page.getByRole('button', { name: 'Paste a list' }).click();
  await page.getByRole('textbox', { name: 'Songs, one a line' }).fill('Ivy Marlow - Low Tide');
  await page.unroute('**/api/library/tracks?*');
  await page.getByRole('button', { name: 'Import' }).click();
  await expect(page).toHaveURL(/\/library/);
  await expect(page.getByText(/1 new/)).toBeVisible();
  expect(imported).toContain('Ivy Marlow - Low Tide');
  await expect(page.getByRole('list', { name: 'Ask next' }).getByRole('button').first()).toBeVisible();
});

test('an empty task list is offered only what works with it', async ({ page }) => {
  await clearTasks(page);
  await page.goto('/?agent=tasks');
  const examples = page.getByRole('list', { name: 'Examples' }).getByRole('button');
  await expect(examples).toHaveText(['Add buy oat milk, call the dentist and water the plants']);
  const origin = new URL(page.url()).origin;
  await page.request.post('/api/tasks', { data: { title: 'Call the venue' }, headers: { origin } });
  await page.reload();
  await expect(examples).toHaveCount(3);
  await expect(examples.last()).toHaveText('I have finished “Call the venue”');
  await clearTasks(page);
});

test('a guest sees no names of settings and no commands', async ({ page }) => {
  await withAbout(page, { mode: 'accounts', model: { id: 'offline', offline: true, hint: 'Set OPENAI_API_KEY and start Segue again.' } });
  await page.route('**/api/library/tracks?*', (route) => route.fulfill({ json: emptyLibrary }));
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Look around with the sample' })).toBeVisible();
  await expect(page.locator('body')).not.toContainText(/[A-Z]+_[A-Z_]+|segue sample/);
  await page.goto('/settings');
  await expect(page.getByText('Offline model').first()).toBeVisible();
  await expect(page.locator('body')).not.toContainText(/OPENAI_API_KEY/);
});

test('the sample is loaded with one press, and removed with another', async ({ page }) => {
  test.skip(!canStart, 'needs a server of its own');
  const servers = new OwnServers();
  const off = { LRCLIB_URL: 'off', RECCOBEATS_URL: 'off', MUSICBRAINZ_URL: 'off', DEEZER_URL: 'off' };
  try {
    const url = await servers.segue({ ...off, SEGUE_MODEL: 'offline', SEGUE_SAMPLE: 'off' });
    await page.goto(url);
    await ask(page, 'songs about leaving home');
    await expect(page.getByText('Your library is empty.')).toBeVisible();
    await page.goto(url);
    await page.getByRole('button', { name: 'Load the sample' }).click();
    await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
    await page.goto(`${url}/library`);
    await expect(page.getByText('300 tracks can be searched')).toBeVisible();
    await page.goto(url);
    await ask(page, 'songs about leaving home');
    await answered(page);
    await expect(answers(page).locator('.track').first()).toBeVisible();
    await page.goto(`${url}/library`);
    await page.getByRole('button', { name: 'Remove the sample' }).click();
    await expect(page.locator('.library-row')).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Remove the sample' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(page.locator('.library-row').first()).toBeVisible();
  } finally {
    servers.stop();
  }
});
