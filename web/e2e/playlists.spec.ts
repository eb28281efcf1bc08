// Playlists people can use: made, renamed, described, filled, arranged, copied, and every step taken back.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { answered, answers, ask, expect, test, token } from './fixtures';

// The mock server does not keep what is changed here.
test.skip(!process.env.SEGUE_BIN && !process.env.SEGUE_URL, 'needs the binary');

const titles = (page: Page) => page.locator('.arranged .track-title');
const announced = (page: Page) => page.getByTestId('announcer');

/** A playlist of the first tracks that a search finds; their titles. */
async function open(page: Page, title: string, n = 4): Promise<string[]> {
  await page.goto('/playlists');
  const origin = new URL(page.url()).origin;
  const found = (await (await page.request.get(`/api/search?q=rain&limit=${n}`)).json()) as {
    tracks: { trackId: string; title: string }[];
  };
  const trackIds = found.tracks.map(({ trackId }) => trackId);
  const made = await page.request.post('/api/playlists', { data: { title, trackIds }, headers: { origin } });
  const { id } = (await made.json()) as { id: string };
  await page.goto(`/playlists?id=${id}`);
  await expect(titles(page)).toHaveCount(n);
  return found.tracks.map((track) => track.title);
}

async function stored(page: Page): Promise<{ title: string; description: string; tracks: { title: string }[] }> {
  const id = new URL(page.url()).searchParams.get('id');
  return (await page.request.get(`/api/playlists/${id}`)).json();
}
const order = async (page: Page) => (await stored(page)).tracks.map(({ title }) => title);

test('a playlist is made, and its making taken back', async ({ page }) => {
  const title = `Night drive ${token()}`;
  await page.goto('/playlists');
  await page.getByRole('button', { name: 'New playlist' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill(title);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  await expect(page.getByText('Nothing on it yet')).toBeVisible();
  await page.getByRole('link', { name: 'Playlists' }).last().click();
  await expect(page.getByRole('link', { name: new RegExp(title) })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('link', { name: new RegExp(title) })).toHaveCount(0);
});

test('title and description are changed in place, cleared, and taken back', async ({ page }) => {
  const title = `Before ${token()}`;
  await open(page, title, 1);
  await page.getByRole('heading', { level: 1 }).getByRole('button').click();
  await page.getByRole('textbox', { name: 'Playlist title' }).fill('After <b>');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 }).getByRole('button')).toBeFocused();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Playlist title' }).fill('After <b>');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'After <b>' })).toBeVisible();
  await expect.poll(async () => (await stored(page)).title).toBe('After <b>');

  await page.getByRole('button', { name: 'Add a description' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('For the last kilometres');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await stored(page)).description).toBe('For the last kilometres');
  await page.getByRole('button', { name: 'For the last kilometres' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Add a description' })).toBeVisible();
  await expect(page.getByText('Description removed')).toBeVisible();
  const earlier = [
    { title: 'After <b>', description: 'For the last kilometres' },
    { title: 'After <b>', description: '' },
    { title, description: '' },
  ];
  for (const expected of earlier) {
    await page.keyboard.press('Control+z');
    await expect.poll(() => stored(page)).toMatchObject(expected);
  }
});

test('tracks are added by searching, removed, and both taken back', async ({ page }) => {
  const [first, second] = await open(page, `Fill ${token()}`, 2);
  await page.getByRole('button', { name: 'Add tracks' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add tracks' });
  await Promise.all([
    page.waitForResponse(/\/api\/library\/tracks\?.*q=winter/),
    page.waitForResponse(/\/api\/search\?.*q=winter/),
    dialog.getByRole('searchbox').fill('winter'),
  ]);
  const add = dialog.getByRole('list', { name: 'Tracks to add' }).getByRole('button', { name: /^Add / }).first();
  const title = ((await add.getAttribute('aria-label')) ?? '').replace('Add ', '');
  await add.click();
  await expect(dialog.getByRole('button', { name: `Add ${title} again` })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(titles(page)).toHaveText([first!, second!, title]);
  await page.keyboard.press('Control+z');
  await expect(titles(page)).toHaveText([first!, second!]);

  await page.getByRole('button', { name: `More for ${first}` }).click();
  await page.getByRole('menuitem', { name: 'Remove from playlist' }).click();
  await expect(titles(page)).toHaveText([second!]);
  await expect(page.getByRole('button', { name: `Move ${second}` })).toBeFocused();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect(titles(page)).toHaveText([first!, second!]);
});

test('the keyboard moves a track, says so, keeps the focus, and takes it back', async ({ page }) => {
  const [a, b, c] = await open(page, `Keys ${token()}`, 3);
  const handle = page.getByRole('button', { name: `Move ${a}` });
  await handle.focus();
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Alt+ArrowDown');
  await expect(titles(page)).toHaveText([b!, c!, a!]);
  await expect(handle).toBeFocused();
  await expect(announced(page)).toContainText(`“${a}” is number 3 of 3`);
  await expect.poll(() => order(page)).toEqual([b, c, a]);
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => order(page)).toEqual([b, a, c]);
  for (const expected of [
    [b, c, a],
    [b, a, c],
    [a, b, c],
  ]) {
    await page.keyboard.press('Control+z');
    await expect.poll(() => order(page)).toEqual(expected);
  }
  await expect(titles(page)).toHaveText([a!, b!, c!]);
});

test('a track is dragged to its place, and Escape gives up', async ({ page }) => {
  const [a, b, c, d] = await open(page, `Drag ${token()}`, 4);
  const drag = async (title: string, over: string) => {
    const from = (await page.getByRole('button', { name: `Move ${title}` }).boundingBox())!;
    const to = (await page.getByRole('button', { name: `Move ${over}` }).boundingBox())!;
    await page.mouse.move(from.x + 8, from.y + from.height / 2);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y + to.height * 0.2, { steps: 6 });
    await page.mouse.move(to.x + 8, to.y + to.height * (to.y > from.y ? 0.9 : 0.1), { steps: 4 });
  };
  await drag(a!, c!);
  await expect(page.locator('[data-drop]')).toHaveCount(1);
  await page.mouse.up();
  await expect(titles(page)).toHaveText([b!, c!, a!, d!]);
  await expect.poll(() => order(page)).toEqual([b, c, a, d]);
  await drag(d!, b!);
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await expect(titles(page)).toHaveText([b!, c!, a!, d!]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(titles(page)).toHaveText([a!, b!, c!, d!]);
});

test.describe(() => {
  test.use({ allowedErrors: [/409/] });

  test('two pages that edit one playlist lose nothing', async ({ page, context, baseURL }) => {
    const [a, b] = await open(page, `Two ${token()}`, 2);
    const id = new URL(page.url()).searchParams.get('id');
    const headers = { origin: baseURL! };
    // Behind the page's back: a program adds a track, which the page has not seen when it moves one.
    const { tracks } = (await (await page.request.get('/api/search?q=winter&limit=1')).json()) as {
      tracks: { trackId: string; title: string }[];
    };
    await context.request.post(`/api/playlists/${id}/tracks`, { data: { trackIds: [tracks[0]!.trackId] }, headers });
    await page.getByRole('button', { name: `Move ${a}` }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect(page.getByText('The playlist was changed meanwhile')).toBeVisible();
    await expect(titles(page)).toHaveText([a!, b!, tracks[0]!.title]);
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => order(page)).toEqual([b, a, tracks[0]!.title]);
  });

  test('an undo that is contradicted says why', async ({ page, context, baseURL }) => {
    await open(page, `Was ${token()}`, 1);
    const id = new URL(page.url()).searchParams.get('id');
    await page.getByRole('heading', { level: 1 }).getByRole('button').click();
    await page.getByRole('textbox', { name: 'Playlist title' }).fill('Mine');
    await page.keyboard.press('Enter');
    // The page can take back what it was answered, not what the server has only stored.
    await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
    expect((await stored(page)).title).toBe('Mine');
    await context.request.patch(`/api/playlists/${id}`, { data: { title: 'Theirs' }, headers: { origin: baseURL! } });
    await page.keyboard.press('Control+z');
    await expect(page.getByText('The playlist was renamed again since.')).toBeVisible();
    expect((await stored(page)).title).toBe('Theirs');
  });
});

test('a playlist is copied, deleted and brought back', async ({ page }) => {
  const title = `Copy ${token()}`;
  const names = await open(page, title, 3);
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `${title} (copy)` })).toBeVisible();
  await expect(titles(page)).toHaveText(names);
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('link', { name: new RegExp(`${title} \\(copy\\)`) })).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(page.getByRole('link', { name: new RegExp(`${title} \\(copy\\)`) })).toBeVisible();
});

test('a row of an answer goes to a playlist, new or there', async ({ page }) => {
  const title = `From a row ${token()}`;
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  const rows = answers(page).locator('.track');
  const names = await rows.locator('.track-title').allInnerTexts();
  const add = async (name: string) => {
    await page.getByRole('button', { name: `More for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Add to playlist …' }).click();
  };
  await add(names[0]!);
  await page.getByRole('dialog').getByRole('textbox', { name: 'Title of a new playlist' }).fill(title);
  await page.keyboard.press('Enter');
  await expect(page.getByText(`Added “${names[0]}” to “${title}”`)).toBeVisible();
  await add(names[1]!);
  await page
    .getByRole('dialog')
    .getByRole('button', { name: new RegExp(title) })
    .click();
  await expect(page.getByText(`Added “${names[1]}” to “${title}”`)).toBeVisible();
  await page.goto('/playlists');
  await page.getByRole('link', { name: new RegExp(title) }).click();
  await expect(titles(page)).toHaveText([names[0]!, names[1]!]);
});

test('the export says when a player finds nothing to play', async ({ page }) => {
  await open(page, `For a player ${token()}`, 2);
  await page.getByRole('button', { name: 'Export' }).click();
  await expect(page.getByText('No track here has a file, so a player finds nothing to play in it.')).toBeVisible();
  const saving = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'M3U8' }).click();
  expect(readFileSync(await (await saving).path(), 'utf8')).toContain('# No audio is known here for this recording.');
});

test('an agent changes a playlist, and the card takes it back', async ({ page }) => {
  await open(page, 'The agent’s list', 2);
  await page.goto('/');
  await ask(page, `Rename the agent list ${token()}`);
  await answered(page);
  const card = page.getByRole('group', { name: 'Changed a playlist' });
  await card.getByRole('button', { name: 'Undo' }).click();
  await expect(card.getByText('Undone. The playlist is as it was.')).toBeVisible();
  await card.getByRole('link', { name: 'Open the playlist' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'The agent’s list' })).toBeVisible();
});

test('a list that was asked for before a deletion does not show what was deleted', async ({ page }) => {
  const [title, other] = [`Gone ${token()}`, `Stays ${token()}`];
  await open(page, other, 1);
  await open(page, title, 1);
  await page.reload();
  const gate = () => {
    let open = () => {};
    const passed = new Promise<void>((done) => (open = done));
    return { open, passed };
  };
  const [listed, deleted] = [gate(), gate()];
  // The list is read before the deletion, and arrives after it.
  await page.route(/\/api\/playlists\?/, async (route) => {
    const response = await route.fetch();
    listed.open();
    await deleted.passed;
    await route.fulfill({ response }).catch(() => {});
  });
  await page.route(/\/api\/playlists\/[0-9a-f-]+$/, async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback();
    await listed.passed;
    await route.fulfill({ response: await route.fetch() });
  });
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(`Deleted “${title}”`)).toBeVisible();
  deleted.open();
  await expect(page.getByRole('link', { name: new RegExp(other) })).toBeVisible();
  await expect(page.getByRole('link', { name: new RegExp(title) })).toHaveCount(0);
});
