// The answer shows what was found: rows that act, names that lead somewhere, things to ask next.
import { readFileSync } from 'node:fs';
import { answered, answers, ask, clearTasks, expect, questions, test, token } from './fixtures';

test('rows of an answer act: add, take back, remove, more like this', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  const rows = answers(page).locator('.track');
  await expect(rows).toHaveCount(5);
  await answers(page).getByRole('button', { name: 'Show all 8' }).click();
  await expect(rows).toHaveCount(8);

  const absent = rows.filter({ has: page.getByRole('button', { name: /^Add .* to library$/ }) }).first();
  const title = await absent.locator('.track-title').innerText();
  const row = rows.filter({ has: page.getByText(title, { exact: true }) });
  await row.getByRole('button', { name: `Add ${title} to library` }).click();
  await expect(row.getByText('In library')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(row.getByText('In library')).toHaveCount(0);

  await row.getByRole('button', { name: `More for ${title}` }).click();
  await expect(page.getByRole('menuitem')).toHaveText(['More like this', 'Details', 'Add to playlist …', 'Add to library']);
  await page.getByRole('menuitem', { name: 'More like this' }).click();
  await expect(questions(page).last()).toContainText(`More like “${title}”`);
});

test('an earlier answer does not claim what is no longer so', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  const owned = answers(page).locator('.track').filter({ hasText: 'In library' }).first();
  const title = await owned.locator('.track-title').innerText();
  const address = page.url();
  await page.getByRole('link', { name: 'Library' }).click();
  await page.getByRole('searchbox', { name: 'Find in your library' }).fill(title);
  await page.locator('.library-row').filter({ hasText: title }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from library' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goto(address);
  const row = answers(page)
    .locator('.track')
    .filter({ has: page.getByText(title, { exact: true }) });
  await expect(row).toBeVisible();
  await expect(row.getByText('In library')).toHaveCount(0);
  await page.request.post(`/api/library/tracks/${await isrcOf(page, title)}/restore`, { headers: { origin: new URL(page.url()).origin } });
});

async function isrcOf(page: import('@playwright/test').Page, title: string): Promise<string> {
  const found = (await (await page.request.get(`/api/search?q=${encodeURIComponent(title)}&limit=20`)).json()) as {
    tracks: { isrc: string; title: string }[];
  };
  return found.tracks.find((track) => track.title === title)?.isrc ?? '';
}

test('a track named in the text opens where one reads', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Tell me the name of the first ${token()}`);
  await answered(page);
  const address = page.url();
  const link = answers(page).locator('.markdown a').first();
  const title = await link.innerText();
  await link.click();
  await expect(page.getByRole('dialog')).toContainText(title);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(address);
  await expect(link).toBeFocused();
});

test('an album named in the text leads to the album, its title track to the track', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Which album has a title track? ${token()}`);
  await answered(page);
  const links = answers(page).locator('.markdown a');
  await expect(links).toHaveText(['Every Exit', 'Every Exit', 'Ferris County Lights']);
  await expect(links.nth(1)).toHaveAttribute('href', /track=/);
  const address = page.url();
  await links.first().click();
  const dialog = page.getByRole('dialog', { name: 'Every Exit' });
  await expect(dialog).toContainText('6 tracks');
  await expect(dialog.locator('.track').first()).toContainText('Ferris County Lights');
  await page.reload();
  await expect(dialog).toContainText('6 tracks');
  await page.goBack();
  await expect(page).toHaveURL(address);
  await links.nth(1).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Every Exit' }).click();
  await expect(dialog).toContainText('6 tracks');
  await expect(page.getByRole('dialog')).toHaveCount(1);
});

test('an album by a name that is not there says so', async ({ page }) => {
  await page.goto('/library?album=Every+Exit&by=Somebody+Else');
  await expect(page.getByRole('dialog')).toContainText('6 tracks');
  await page.goto('/library?album=No+Such+Album&by=Another+Band');
  await expect(page.getByRole('dialog')).toContainText('This album is not here');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/library$/);
});

test('a task named in the text leads to the task', async ({ page }) => {
  await clearTasks(page);
  const origin = new URL(page.url()).origin;
  for (let n = 1; n <= 30; n++) await page.request.post('/api/tasks', { data: { title: `Earlier ${n}` }, headers: { origin } });
  await page.goto('/?agent=tasks');
  await ask(page, `Remind me of the strings ${token()}`);
  await answered(page);
  const link = answers(page).locator('.markdown').getByRole('link', { name: 'Call the venue' });
  const href = (await link.getAttribute('href'))!;
  await link.click();
  await expect(page).toHaveURL(/\/tasks\?task=/);
  const box = page.getByRole('checkbox', { name: 'Call the venue' });
  await expect(box).toBeFocused();
  await expect(box).toBeInViewport();

  // Done: it stands in the folded list, which opens for it.
  await page.keyboard.press('Space');
  await expect(box).toBeChecked();
  await page.goto(href);
  await expect(box).toBeFocused();
  await expect(box).toBeChecked();

  await page.request.delete(`/api/tasks/${href.split('=')[1]}`, { headers: { origin } });
  await page.goto(href);
  await expect(page.getByText('This task is no longer on your list.')).toBeVisible();
  await clearTasks(page);
});

test('what to ask next is one press away', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  const next = page.getByRole('list', { name: 'Ask next' });
  await expect(next.getByRole('button', { name: 'Make a playlist of these' })).toBeVisible();
  await next.getByRole('button', { name: 'Make a playlist of these' }).click();
  await answered(page);
  await expect(page.getByRole('group', { name: /Put together the playlist/ })).toBeVisible();
  await expect(next.getByRole('button', { name: 'Make a playlist of these' })).toHaveCount(0);
});

test('a phone lands on the question and the best hit', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  await expect(questions(page).last()).toBeInViewport();
  await expect(answers(page).locator('.track').first()).toBeInViewport();
  await page.reload();
  await expect(questions(page).last()).toBeInViewport();
  await expect(answers(page).locator('.track').first()).toBeInViewport();
});

test('an empty answer says that it is empty', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Please say nothing ${token()}`);
  await answered(page);
  await expect(answers(page)).toContainText('The model gave an empty answer.');
  await expect(answers(page)).not.toContainText('tokens');
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
});

test('a conversation is saved as Markdown and as JSON, and an answer is copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  const here = page
    .getByRole('navigation', { name: 'Conversations' })
    .getByRole('listitem')
    .filter({ has: page.locator('[aria-current]') });
  for (const [item, ending] of [
    ['Save as Markdown', '.md'],
    ['Save as JSON', '.json'],
  ] as const) {
    await here.getByRole('button', { name: /More for/ }).focus();
    await page.keyboard.press('Enter');
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: item }).press('Enter');
    const file = await saving;
    expect(file.suggestedFilename()).toMatch(new RegExp(`^Rainy nights .*\\${ending}$`));
    expect(readFileSync(await file.path(), 'utf8')).toContain('Let me listen through your library for that.');
    await expect(page.getByRole('menu')).toHaveCount(0);
  }
  await page.getByRole('button', { name: 'More about this answer' }).click();
  await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click();
  await expect(page.getByText('Copied as Markdown')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/1\. \*\*.+\*\* — /);
});

test('a conversation that is being answered has a dot in the list', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Please take your time ${token()}`);
  await expect(answers(page)).toContainText('slow rain');
  await expect(page.getByRole('img', { name: 'Answering' })).toHaveCount(1);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByRole('img', { name: 'Answering' })).toHaveCount(0);
});
