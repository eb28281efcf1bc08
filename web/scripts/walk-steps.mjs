// The steps of docs/page-walk.md in pictures. Each one runs against 0.1 and against this version, so it looks for what both
// have, and asks for the version where they differ.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BRACKETS = 'Set SEGUE_MODEL=openai:<model> and press <Enter>. A generic is List<String>.';
const LETTER = 'A carefully written question: which of my songs would suit the last hour of a long drive home, and in which order?';
const REFUSAL = { error: { code: 'RATE_LIMITED', message: 'You have sent many messages.', details: [] } };

/** Both end an answer with one of these: 0.1 with its tokens, this version with a menu. */
const ends = (page) => page.getByText(/tokens in/).or(page.getByRole('button', { name: 'More about this answer' }));

async function ask(page, text) {
  const before = await ends(page).count();
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await ends(page).nth(before).waitFor({ state: 'attached' });
}

async function openFirstRow({ page, isOld }) {
  if (isOld) await page.getByRole('button', { name: /Searched your library/ }).click();
  await page.locator('.track-head').first().click();
  await page
    .locator('.track')
    .first()
    .evaluate((row) => row.scrollIntoView({ block: 'start' }));
}

async function openLibrary({ page, url }, view) {
  await page.goto(`${url}/library${view ? `?view=${view}` : ''}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** The last hour of an evening: two files as people have them, one with an entry that no catalogue knows. */
function files() {
  const folder = mkdtempSync(join(tmpdir(), 'segue-walk-'));
  const csv = join(folder, 'favourites.csv');
  const m3u = join(folder, 'evening.m3u8');
  writeFileSync(csv, 'title,artist,album\nHarbour at Four,The Low Tides,Moorings\nPaper Boats,Ivy Marlow,Small Rain\nA Lamp Left On,,\n');
  writeFileSync(m3u, '#EXTM3U\n#EXTINF:201,Ivy Marlow - Paper Boats\npaper-boats.mp3\n#EXTINF:188,Ivy Marlow - Night Ferry\nferry.mp3\n');
  return [csv, m3u];
}

const chat =
  (...questions) =>
  async ({ page, url }) => {
    await page.goto(url);
    for (const question of questions) await ask(page, question);
  };

/** `isNew`: 0.1 has nothing of the kind. `empty`: on a server without music. `dark`: also in the dark theme. */
export const STEPS = [
  {
    name: 'first-page',
    async show({ page, url }) {
      await page.goto(url);
      await page.getByRole('list', { name: 'Examples' }).waitFor();
    },
  },
  {
    name: 'empty-server',
    empty: true,
    async show({ page, url, isOld }) {
      await page.goto(url);
      if (isOld) await page.getByRole('list', { name: 'Examples' }).waitFor();
      else await page.getByText('Bring your music').first().waitFor();
    },
  },
  { name: 'empty-answer', empty: true, show: chat('Songs for a rainy night drive') },
  { name: 'answer', dark: true, show: chat('Songs about leaving home, hopeful rather than sad') },
  {
    name: 'why-it-matched',
    async show(walk) {
      await chat('Songs about leaving home, hopeful rather than sad')(walk);
      await openFirstRow(walk);
    },
  },
  {
    name: 'menu-of-a-row',
    isNew: true,
    async show(walk) {
      await chat('Songs about leaving home, hopeful rather than sad')(walk);
      await walk.page
        .getByRole('button', { name: /^More for/ })
        .and(walk.page.locator('.track button'))
        .first()
        .click();
    },
  },
  { name: 'follow-up', show: chat('Songs for a rainy night drive', 'Tell me about the first one') },
  {
    name: 'nothing-fits',
    async show(walk) {
      await openLibrary(walk, 'meaning');
      await walk.page.getByRole('searchbox', { name: 'Find in your library' }).fill('zxqv');
      await walk.page.locator('.track').first().waitFor();
    },
  },
  {
    name: 'angle-brackets',
    async show({ page, url }) {
      await page.route('**/api/chat/stream', async (route) => {
        const response = await route.fetch();
        let isFirst = true;
        const body = (await response.text()).replace(/"content":"(?:[^"\\]|\\.)*"/g, () => {
          const words = isFirst ? BRACKETS : '';
          isFirst = false;
          return `"content":${JSON.stringify(words)}`;
        });
        await route.fulfill({ response, body });
      });
      await page.goto(url);
      await ask(page, 'What can you do?');
    },
  },
  {
    name: 'refused-message',
    async show({ page, url }) {
      await page.route('**/api/chat/stream', (route) => route.fulfill({ status: 429, headers: { 'retry-after': '30' }, json: REFUSAL }));
      await page.goto(url);
      await page.getByLabel('Message', { exact: true }).fill(LETTER);
      await page.keyboard.press('Enter');
      await page.getByText('You have sent many messages').first().waitFor();
      await page.reload();
      await page.getByLabel('Message', { exact: true }).waitFor();
    },
  },
  {
    name: 'edited-question',
    isNew: true,
    async show(walk) {
      const { page } = walk;
      await chat('Songs for a rainy night drive')(walk);
      await page.getByRole('button', { name: 'Edit question' }).waitFor({ state: 'attached' });
      await page.getByLabel('Message', { exact: true }).press('ArrowUp');
      await page.getByRole('textbox', { name: 'Edit your question' }).fill('Songs for a sunny morning drive');
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: /^Versions of/ }).waitFor();
      await ends(page).first().waitFor({ state: 'attached' });
    },
  },
  {
    name: 'playlist',
    dark: true,
    async show(walk) {
      const { page, isOld } = walk;
      await chat('Make me a playlist for a slow Sunday morning')(walk);
      if (isOld) await page.getByRole('button', { name: /Put together the playlist/ }).click();
      await page.getByRole('link', { name: 'Open the playlist' }).click();
      await page.locator('.track').first().waitFor();
    },
  },
  {
    name: 'new-playlist',
    async show({ page, url, isOld }) {
      await page.goto(`${url}/playlists`);
      await page.getByRole('heading', { level: 1, name: 'Playlists' }).waitFor();
      if (isOld) return;
      await page.getByRole('button', { name: 'New playlist' }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Last hour of the drive');
    },
  },
  {
    name: 'library',
    async show(walk) {
      await openLibrary(walk);
      await walk.page.locator('.library-row').first().waitFor();
    },
  },
  { name: 'albums', show: (walk) => openLibrary(walk, 'albums') },
  { name: 'artists', isNew: true, show: (walk) => openLibrary(walk, 'artists') },
  {
    name: 'track',
    dark: true,
    async show(walk) {
      await openLibrary(walk);
      await walk.page.getByRole('searchbox', { name: 'Find in your library' }).fill('Leaving on');
      await walk.page.locator('.library-row', { hasText: 'Leaving on the 6:40' }).click();
      await walk.page.getByRole('dialog').getByRole('button', { name: 'Lyrics' }).waitFor();
    },
  },
  {
    name: 'tasks',
    async show({ page, url, isOld }) {
      await page.goto(`${url}/?agent=tasks`);
      await ask(page, 'Add buy guitar strings, call the venue and water the plants');
      await page.goto(`${url}/tasks`);
      await page.getByRole('checkbox', { name: /buy guitar strings/i }).click();
      if (!isOld) await page.getByRole('button', { name: 'Dismiss' }).click();
    },
  },
  {
    name: 'settings',
    async show({ page, url }) {
      await page.goto(`${url}/settings`);
      await page.getByText('Version').waitFor();
    },
  },
  {
    name: 'palette',
    isNew: true,
    async show(walk) {
      await chat('Songs for a rainy night drive')(walk);
      await walk.page.keyboard.press('Control+k');
      await walk.page.getByRole('combobox', { name: 'Find anything' }).waitFor();
    },
  },
  {
    name: 'another-language',
    isNew: true,
    async show({ page, url }) {
      await page.goto(url);
      await ask(page, 'Songs for a rainy night drive');
      await page.evaluate(() => localStorage.setItem('segue.language', 'de'));
      await page.reload();
      await page.locator('.track').first().waitFor();
      await page.evaluate(() => localStorage.removeItem('segue.language'));
    },
  },
  {
    name: 'server-away',
    async show({ page, url, isOld, isPhone }) {
      // This version fetches its pages ahead, when it has nothing else to do.
      const ahead = isOld ? null : page.waitForResponse(/assets\/library-page/);
      await page.goto(url);
      await ahead;
      await page.waitForLoadState('networkidle');
      await page.route('**/*', (route) => route.abort());
      if (isPhone) await page.getByRole('button', { name: 'Open menu' }).click();
      await page.getByRole('link', { name: 'Library' }).last().click();
      if (isOld) await page.getByText('The page broke').waitFor();
      else await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor();
      // What the page says after it has tried a few times.
      await page.waitForTimeout(5000);
    },
  },
  {
    name: 'import-report',
    async show(walk) {
      await openLibrary(walk);
      await walk.page.locator('input[type=file]').first().setInputFiles(files());
      await walk.page
        .locator('.import-zone')
        .getByText(/\bnew\b/)
        .first()
        .waitFor({ timeout: 90_000 });
    },
  },
];
