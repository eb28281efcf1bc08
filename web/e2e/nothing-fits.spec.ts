// A search that finds nothing says so, and offers what to ask instead.
import { answered, answers, ask, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs a server of its own');

const servers = new OwnServers();
let url = '';
test.beforeAll(async () => {
  const off = { LRCLIB_URL: 'off', RECCOBEATS_URL: 'off', MUSICBRAINZ_URL: 'off', DEEZER_URL: 'off' };
  url = await servers.segue({ ...off, SEGUE_MODEL: 'offline' });
  // The sample is indexed after the first answer of the server.
  const indexed = async () => (await (await fetch(`${url}/api/index`)).json()) as object;
  await expect.poll(indexed).toMatchObject({ pending: 0, tracks: 300 });
});
test.afterAll(() => servers.stop());

test('a limit that leaves nothing can be taken away with one press', async ({ page }) => {
  await page.goto(url);
  await ask(page, 'calm songs about rain from the 1920s');
  await answered(page);
  const next = page.getByRole('list', { name: 'Ask next' });
  await next.getByRole('button', { name: /^Search without “19/ }).click();
  await expect(answers(page).last().locator('.track').first()).toBeVisible();
  await expect(next.getByRole('button', { name: /^More like/ })).toBeVisible();
});

test('what comes nearest can be asked about', async ({ page }) => {
  await page.goto(url);
  await ask(page, 'songs about quarterly invoice reconciliation software');
  await answered(page);
  const chip = page.getByRole('list', { name: 'Ask next' }).getByRole('button', { name: /^More like/ });
  await chip.click();
  await expect(answers(page).last().locator('.track').first()).toBeVisible();

  await page.goto(`${url}/library?view=meaning&q=quarterly invoice reconciliation software`);
  await expect(page.getByText('Nothing really fits')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Nearest' }).locator('.track').first()).toBeVisible();
  await expect(page.getByRole('list', { name: 'Found' })).toHaveCount(0);
});

test('a search while tracks are being read says so', async ({ page }) => {
  const words = 'Some of your tracks are still being read and cannot be found yet.';
  const search = `${url}/library?view=meaning&q=leaving home`;
  await page.goto(search);
  await expect(page.getByRole('list', { name: 'Found' })).toBeVisible();
  await expect(page.getByText(words)).toHaveCount(0);
  await page.route('**/api/search?*', async (route) => {
    const found = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...found, isIncomplete: true } });
  });
  await page.goto(search);
  await expect(page.getByText(words)).toBeVisible();
});
