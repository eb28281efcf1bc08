// Takes the pictures in docs/screenshots from a running Segue with the sample library and the offline model:
//
//   node e2e/screenshots.mjs [url]
//
// It deletes every conversation, task and playlist it finds there: give it a data directory of its own.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { CHROMIUM_ARGS } from './chromium.mjs';

const url = process.argv[2] ?? 'http://127.0.0.1:8080';
const out = process.argv[3] ?? fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
mkdirSync(out, { recursive: true });

const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

async function ask(page, text) {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'More about this answer' }).last().waitFor();
}

/** Every set of pictures begins with an empty installation, so that it shows only what it is about. */
async function clear(page) {
  for (const kind of ['conversations', 'tasks', 'playlists']) {
    const list = (await (await page.request.get(`${url}/api/${kind}`)).json())[kind];
    for (const { id } of list) await page.request.delete(`${url}/api/${kind}/${id}`, { headers: { origin: url } });
  }
}

/** What is shown, in the order a person would come across it. Each step leaves the page as its picture shows it. */
const STORY = {
  async tasks(page) {
    await page.goto(`${url}/?agent=tasks`);
    await ask(page, 'Add buy guitar strings, call the venue and water the plants');
    await page.goto(`${url}/tasks`);
    await page.getByRole('checkbox', { name: /water the plants/i }).click();
  },
  async 'tasks-chat'(page) {
    await page.goto(`${url}/?agent=tasks`);
    await ask(page, 'What is on my list?');
  },
  async failure(page) {
    await page.goto(url);
    await ask(page, 'Search Tidal for Portishead');
    await page.locator('.thread').evaluate((thread) => thread.scrollTo(0, 0));
  },
  async playlist(page) {
    await page.goto(url);
    await ask(page, 'Make me a playlist for a slow Sunday morning');
    await page.getByRole('link', { name: 'Open the playlist' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
  async discover(page) {
    await page.goto(url);
    await ask(page, 'Songs about leaving home, hopeful rather than sad');
    await page.locator('.track-head').first().click();
    await page.locator('.thread').evaluate((thread) => thread.scrollTo(0, 0));
  },
  async library(page) {
    await page.goto(`${url}/library`);
    await page.locator('.library-row').first().waitFor();
  },
  async track(page) {
    await page.goto(`${url}/library`);
    await page.getByRole('searchbox', { name: 'Find in your library' }).fill('Leaving on');
    await page.locator('.library-row', { hasText: 'Leaving on the 6:40' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lyrics' }).click();
  },
  async settings(page) {
    await page.goto(`${url}/settings`);
    await page.getByText('Version').waitFor();
  },
  async welcome(page) {
    await page.goto(url);
    await page.getByRole('list', { name: 'Examples' }).waitFor();
  },
  async drawer(page, size) {
    if (size !== 'phone') return false;
    await page.getByRole('button', { name: 'Open menu' }).click();
  },
  async 'sign-in'(page) {
    const refusal = { error: { code: 'UNAUTHORIZED', message: 'Sign in first.', details: [] } };
    await page.route('**/api/me', (route) => route.fulfill({ status: 401, json: refusal }));
    await page.route('**/api/about', async (route) =>
      route.fulfill({ json: { ...(await (await route.fetch()).json()), mode: 'accounts' } }),
    );
    await page.goto(url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  },
};

async function take(page, name) {
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${out}/${name}.png` });
  console.log(name);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark']) {
    const phone = size === 'phone';
    const context = await browser.newContext({
      viewport,
      colorScheme,
      deviceScaleFactor: phone ? 2 : 1,
      hasTouch: phone,
      isMobile: phone,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await clear(page);
    for (const [what, step] of Object.entries(STORY)) {
      if ((await step(page, size)) !== false) await take(page, `${what}-${size}-${colorScheme}`);
    }
    await context.close();
  }
}
await browser.close();
