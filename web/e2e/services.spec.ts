// Importing a file and adding from the catalogue, with doubles of the catalogue and of the sources beside the server.
import { answered, answers, ask, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');
// Covers come from a host that tests cannot reach.
// An album of the catalogue is looked for in the library first.
test.use({ allowedErrors: [/status of (?:404|502)/] });

const servers = new OwnServers();
let url = '';
test.beforeAll(async () => {
  url = await servers.segue({ ...(await servers.services()), SEGUE_SAMPLE: 'off' });
});
test.afterAll(() => servers.stop());

test('a file is imported: its tracks are in the library, and a line without a title is told', async ({ page }) => {
  await page.goto(`${url}/library`);
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'choose files' }).click();
  const rows = 'Title,Artist\nLow Tide,Ivy Marlow\nUnheard Of,No Such Band\n,Someone\n';
  await (await choosing).setFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) });
  await expect(page.getByText('2 tracks · 2 new')).toBeVisible({ timeout: 30_000 });
  await page.getByText('Unreadable (1)').click();
  await expect(page.getByText(/mine.csv, line 4/)).toBeVisible();
  const listed = await (await page.request.get(`${url}/api/library/tracks`)).json();
  const titles = (listed as { tracks: { title: string }[] }).tracks.map(({ title }) => title);
  expect(titles).toEqual(expect.arrayContaining(['Low Tide', 'Unheard Of']));
});

test('a track without a code is opened, removed and brought back', async ({ page }) => {
  const rows = 'Title,Artist\nNo Code At All,Nameless Band\n';
  const file = { name: 'plain.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) };
  await page.goto(`${url}/library`);
  await page.request.post(`${url}/api/library/import`, { multipart: { file }, headers: { origin: url } });
  await page.reload();
  await page.getByRole('button', { name: /No Code At All/ }).click();
  const dialog = page.getByRole('dialog', { name: 'No Code At All' });
  await expect(dialog).toContainText('Nameless Band');
  await dialog.getByRole('button', { name: 'Remove from library' }).click();
  await expect(page.getByRole('button', { name: /No Code At All/ })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: /No Code At All/ })).toBeVisible();
});

test('music is added from the catalogue, and taken back', async ({ page }) => {
  await page.goto(`${url}/library`);
  await page.getByRole('button', { name: 'Add music' }).click();
  await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('Paper Atlas');
  await page.keyboard.press('Enter');
  const add = page.getByRole('dialog').getByRole('button', { name: /^Add / }).first();
  const name = (await add.getAttribute('aria-label'))!.replace('Add ', '');
  await add.click();
  await expect(page.getByRole('button', { name: `${name}: In library` })).toBeVisible();
  // The undo stands inside the dialog: nothing outside of it can be reached.
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: `Add ${name}` })).toBeEnabled();
});

test('a removed album is in the trash, and comes back from there', async ({ page }) => {
  await page.goto(`${url}/library`);
  const found = await page.request.post(`${url}/api/tools/tidalSearch`, {
    data: { query: 'Paper Atlas', searchType: 'albums' },
    headers: { origin: url },
  });
  const { albums } = (await found.json()) as { albums: { id: string; title: string }[] };
  const { id, title } = albums[0]!;
  await page.request.post(`${url}/api/library/albums`, { data: { albumId: id }, headers: { origin: url } });
  await page.goto(`${url}/library?view=albums`);
  await page.getByRole('button', { name: title }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from library' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goto(`${url}/trash`);
  const row = page.getByRole('list', { name: 'Deleted' }).getByRole('listitem').filter({ hasText: title });
  await expect(row).toContainText('Album');
  await row.getByRole('button', { name: /^Restore/ }).click();
  await expect(row).toHaveCount(0);
  expect((await page.request.get(`${url}/api/library/albums/${id}`)).status()).toBe(200);
});

test('an album of one’s own tracks is removed with its tracks, and comes back with them', async ({ page }) => {
  const rows = 'Title,Artist,Album\nHarbour One,Quay Band,Harbour Days\nHarbour Two,Quay Band,Harbour Days\n';
  const file = { name: 'album.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) };
  await page.goto(`${url}/library`);
  await page.request.post(`${url}/api/library/import`, { multipart: { file }, headers: { origin: url } });
  await page.goto(`${url}/library?view=albums`);
  const album = page.getByRole('button', { name: /Harbour Days/ });
  await album.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from library' }).click();
  await expect(album).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(album).toBeVisible();
});

test('an album of the catalogue that an answer names is opened and added', async ({ page }) => {
  await page.goto(url);
  await ask(page, 'albums by Ivy Marlow');
  await answered(page);
  await answers(page).locator('.markdown').getByRole('link', { name: 'The Long Ledger' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('46 tracks');
  await dialog.getByRole('button', { name: 'Add The Long Ledger' }).click();
  await expect(dialog.getByRole('button', { name: 'Remove from library' })).toBeVisible();
});

test('a catalogue that did not deliver everything in time says so', async ({ page }) => {
  await page.route('**/api/tools/tidalSearch', async (route) => {
    const found = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...found, isIncomplete: true } });
  });
  await page.goto(`${url}/library`);
  await page.getByRole('button', { name: 'Add music' }).click();
  await page.getByRole('searchbox', { name: 'Search the catalogue' }).fill('Paper Atlas');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('Tidal had more, but did not deliver it in time.');
});
