// Around the chat: tasks, history, music, settings.
import { readFileSync } from 'node:fs';
import { answered, ask, clearTasks, expect, test, token } from './fixtures';

test('tasks are in step between chat, panel, page and another tab', async ({ page, context }) => {
  await clearTasks(page);
  const other = await context.newPage();
  await other.goto('/tasks');
  await expect(other.getByText('A clear day')).toBeVisible();

  await page.goto('/?agent=tasks');
  await ask(page, 'Remind me to buy guitar strings and call the venue');
  await answered(page);
  await expect(other.getByRole('checkbox', { name: 'Buy guitar strings' })).toBeVisible();

  const panel = page.getByRole('complementary', { name: 'Your tasks' });
  const card = page.getByRole('group', { name: 'Read your open tasks' });
  await expect(card.getByRole('checkbox')).toHaveCount(2);
  await panel.getByRole('checkbox', { name: 'Call the venue' }).click();
  await expect(card.getByRole('checkbox', { name: 'Call the venue' })).toBeChecked();
  await other.getByText('Done (1)').click();
  await expect(other.getByRole('checkbox', { name: 'Call the venue' })).toBeChecked();

  await other.getByRole('checkbox', { name: 'Call the venue' }).click();
  await expect(panel.getByRole('checkbox', { name: 'Call the venue' })).not.toBeChecked();

  await ask(page, 'I am done with the first one');
  await answered(page);
  await other.getByText('Done (1)').click();
  await expect(other.getByRole('checkbox', { checked: true })).toHaveCount(1);
});

test('what the agent deleted is brought back from its card', async ({ page }) => {
  await clearTasks(page);
  await page.goto('/?agent=tasks');
  await ask(page, 'Remind me to buy guitar strings and call the venue');
  await answered(page);
  await ask(page, 'Forget about the first one');
  await answered(page);
  const panel = page.getByRole('complementary', { name: 'Your tasks' });
  await expect(panel.getByRole('checkbox')).toHaveCount(1);
  const card = page.getByRole('group', { name: 'Deleted a task' });
  await card.getByRole('button').first().click();
  await card.getByRole('button', { name: /Bring back/ }).click();
  await expect(panel.getByRole('checkbox')).toHaveCount(2);
  await expect(card.getByRole('checkbox')).toBeEnabled();
});

test('a task is added, edited in place, filtered, deleted and brought back', async ({ page }) => {
  await clearTasks(page);
  await page.goto('/tasks');
  await page.getByRole('textbox', { name: 'New task' }).fill('Tune the piano');
  await page.keyboard.press('Enter');
  const row = page.getByRole('list', { name: 'Tasks' }).getByRole('listitem');
  await expect(row).toHaveCount(1);
  await row.hover();
  await row.getByRole('button', { name: 'Edit Tune the piano' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Tune the old piano');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('checkbox', { name: 'Tune the old piano' })).toBeVisible();

  await page.getByRole('checkbox', { name: 'Tune the old piano' }).click();
  await expect(row).toHaveCount(0);
  await page.getByText('Done (1)').click();
  const done = page.getByRole('list', { name: 'Done tasks' }).getByRole('listitem');
  await expect(done).toHaveCount(1);

  await done.hover();
  await done.getByRole('button', { name: 'Delete Tune the old piano' }).click();
  await expect(done).toHaveCount(0);
  await page.locator('.toast').filter({ hasText: 'Deleted' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Done (1)').click();
  await expect(page.getByRole('checkbox', { name: 'Tune the old piano' })).toBeChecked();
  await page.reload();
  await page.getByText('Done (1)').click();
  await expect(page.getByRole('checkbox', { name: 'Tune the old piano' })).toBeChecked();
});

test('a conversation is found, renamed, linked to, deleted and brought back', async ({ page, context }) => {
  const mark = token();
  await page.goto('/');
  await ask(page, `Rainy songs ${mark}`);
  await answered(page);
  const address = page.url();
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await list.getByRole('searchbox').fill(mark);
  const entry = list.getByRole('listitem');
  await expect(entry).toHaveCount(1);

  await entry.hover();
  await entry.getByRole('button', { name: /More for/ }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Conversation title' }).fill(`Wet weather ${mark}`);
  await page.keyboard.press('Enter');
  await expect(entry.getByRole('link')).toContainText(`Wet weather ${mark}`);
  await expect(page).toHaveTitle(`Wet weather ${mark} · Segue`);

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await entry.getByRole('button', { name: /More for/ }).click();
  await page.getByRole('menuitem', { name: 'Copy link' }).click();
  await expect(page.getByText('Link copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);

  await entry.getByRole('button', { name: /More for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(entry).toHaveCount(0);
  await expect(page).toHaveURL(/\/$/);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(entry).toHaveCount(1);
  await page.goto(address);
  await expect(page.getByRole('article', { name: 'Segue' })).toHaveCount(1);
});

test('the library is searched, opened, emptied of a track and given it back', async ({ page }) => {
  await page.goto('/library');
  const rows = page.locator('.library-row');
  await expect(rows.first()).toBeVisible();
  const title = await rows.first().locator('.track-title').innerText();
  await page.getByRole('searchbox', { name: 'Find in your library' }).fill(title);
  await expect(rows.first().locator('.track-title')).toHaveText(title);
  await rows.first().click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('Energy', { exact: true })).toBeVisible();
  await dialog.getByRole('button', { name: 'Remove from library' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(rows.filter({ hasText: title })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows.filter({ hasText: title })).toHaveCount(1);

  await page.getByRole('searchbox', { name: 'Find in your library' }).fill('');
  await page.getByLabel('Sort').selectOption('Title');
  const plain = (title: string) => title.toLowerCase();
  const titles = async () => (await rows.locator('.track-title').allInnerTexts()).slice(0, 8).map(plain);
  await expect.poll(async () => (await titles()).every((title, row, all) => row === 0 || all[row - 1]! <= title)).toBe(true);

  await page.getByRole('button', { name: 'By meaning' }).click();
  await page.getByRole('searchbox', { name: 'Find in your library' }).fill('rainy night drive');
  await expect(page.getByText(/^(?:\d+ found|The best \d+ of \d+\.)$/)).toBeVisible();
});

test('a library of thousands is drawn a window at a time', async ({ page }) => {
  const total = 5_000;
  await page.route('**/api/library/tracks?*', (route) => {
    const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const tracks = Array.from({ length: 100 }, (_, i) => ({
      isrc: `XSGUE${String(cursor + i).padStart(7, '0')}`,
      title: `Track ${cursor + i + 1}`,
      artist: 'Many',
      album: 'All',
      inLibrary: true,
      isIndexed: true,
      addedAt: '2026-11-01T10:00:00Z',
    }));
    return route.fulfill({ json: { tracks, total, ...(cursor + 100 < total && { next: cursor + 100 }) } });
  });
  await page.goto('/library');
  await expect(page.getByText('5,000 tracks', { exact: true })).toBeVisible();
  const rows = page.locator('.library-row');
  for (const wanted of [150, 420]) {
    await expect(async () => {
      await page.locator('.page').evaluate((element) => element.scrollTo(0, element.scrollHeight));
      const last = Number((await rows.last().locator('.track-title').innerText()).replace('Track ', ''));
      expect(last).toBeGreaterThan(wanted);
    }).toPass();
    expect(await rows.count()).toBeLessThan(60);
  }
});

test('a playlist from the chat is kept with its reasons and leaves in every format', async ({ page }) => {
  await page.goto('/');
  await ask(page, 'Make a playlist for a quiet evening');
  await answered(page);
  const card = page.getByRole('group', { name: /Put together the playlist/ });
  await card.getByRole('link', { name: 'Open the playlist' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Lamplight' })).toBeVisible();
  await expect(page.locator('.track-why')).toHaveCount(5);
  await page.getByRole('button', { name: 'Export' }).click();
  await expect(page.getByRole('menuitem')).toHaveText([/M3U8/, /XSPF/, /JSPF/, /CSV/]);
  await page.keyboard.press('Escape');
  const first = await page.locator('.track-title').first().innerText();
  for (const format of ['M3U8', 'XSPF', 'JSPF', 'CSV']) {
    // A menu that is still closing takes the focus back from one that opens.
    await expect(page.getByRole('menu')).toHaveCount(0);
    await page.getByRole('button', { name: 'Export' }).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: format }).click();
    const file = await saving;
    expect(file.suggestedFilename().toLowerCase()).toBe(`lamplight.${format.toLowerCase()}`);
    expect(readFileSync(await file.path(), 'utf8')).toContain(first);
  }
  await page.locator('.track-head').first().click();
  await expect(page.locator('.track').first().getByText('Energy', { exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('link', { name: /Lamplight/ }).first()).toBeVisible();
});

test('a theme is chosen and kept', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/settings');
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole('button', { name: 'Dark' }).click();
  const dark = await paper();
  expect(dark).not.toBe(light);
  await page.reload();
  expect(await paper()).toBe(dark);
  await page.getByRole('button', { name: 'System' }).click();
  expect(await paper()).toBe(light);
});
