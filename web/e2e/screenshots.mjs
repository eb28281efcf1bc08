// Takes the pictures in docs/screenshots from a running Segue (or the mock): node e2e/screenshots.mjs [url]
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { CHROMIUM_ARGS } from './chromium.mjs';

const url = process.argv[2] ?? 'http://127.0.0.1:8091';
const out = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
mkdirSync(out, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

async function picture(page, name) {
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${out}${name}.png` });
  console.log(name);
}

async function ask(page, text) {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const settled = (page) => page.getByText(/tokens in/).last().waitFor();

/** Every picture begins with an empty house, so that it shows only what it is about. */
async function clear(page) {
  const headers = { origin: url };
  for (const kind of ['conversations', 'tasks', 'playlists']) {
    const list = (await (await page.request.get(`${url}/api/${kind}`)).json())[kind];
    for (const { id } of list) await page.request.delete(`${url}/api/${kind}/${id}`, { headers });
  }
}

async function tell(page, size, colorScheme) {
  const name = (what) => `${what}-${size}-${colorScheme}`;
  await clear(page);

  await page.goto(`${url}/?agent=tasks`);
  await ask(page, 'Remind me to buy guitar strings and call the venue');
  await settled(page);
  await page.getByRole('button', { name: /Read your open tasks/ }).click();
  await picture(page, name('tasks-chat'));

  await page.goto(url);
  await ask(page, 'Is there anything new in the Tidal catalogue about night trains?');
  await settled(page);
  await picture(page, name('failure'));

  await page.goto(url);
  await ask(page, 'Make a playlist for a quiet evening');
  await settled(page);
  await page.getByRole('button', { name: /Put together the playlist/ }).click();
  await page.getByRole('link', { name: 'Open the playlist' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await picture(page, name('playlist'));

  await page.goto(url);
  await ask(page, 'Songs for a rainy night drive');
  await settled(page);
  await page.getByRole('button', { name: /Searched your library/ }).click();
  await page.locator('.track-head').first().click();
  await page.locator('.thread').evaluate((thread) => thread.scrollTo(0, 0));
  await page.mouse.move(0, 0);
  await picture(page, name('discover'));

  await page.goto(`${url}/library`);
  await page.locator('.library-row').first().waitFor();
  await picture(page, name('library'));

  await page.goto(url);
  await page.getByRole('list', { name: 'Examples' }).waitFor();
  await picture(page, name('welcome'));
  if (size !== 'phone') return;
  await page.getByRole('button', { name: 'Open menu' }).click();
  await picture(page, name('drawer'));
}

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark']) {
    const phone = size === 'phone';
    const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: phone ? 2 : 1, hasTouch: phone, isMobile: phone, reducedMotion: 'reduce' });
    await tell(await context.newPage(), size, colorScheme);
    await context.close();
  }
}
await browser.close();
