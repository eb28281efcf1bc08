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

const settled = (page) => page.getByText(/\d+ in · \d+ out/).last().waitFor();

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark']) {
    const phone = size === 'phone';
    const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: phone ? 2 : 1, hasTouch: phone, isMobile: phone, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && console.log('console:', message.text()));
    page.on('pageerror', (error) => console.log('pageerror:', error.message));
    const name = (what) => `${what}-${size}-${colorScheme}`;

    await page.goto(url);
    await page.getByRole('list', { name: 'Examples' }).waitFor();
    await picture(page, name('welcome'));

    await ask(page, 'Songs for a rainy night drive');
    await settled(page);
    await page.getByRole('button', { name: /Searched your library/ }).click();
    await page.locator('.track-head').first().click();
    await page.locator('.thread').evaluate((thread) => thread.scrollTo(0, 0));
    await picture(page, name('discover'));

    await page.goto(url);
    await ask(page, 'Is there anything new in the Tidal catalogue about night trains?');
    await settled(page);
    await picture(page, name('failure'));

    await page.goto(`${url}/?agent=tasks`);
    await ask(page, 'Remind me to buy guitar strings and call the venue');
    await settled(page);
    await page.getByRole('button', { name: /Read your open tasks/ }).click();
    await picture(page, name('tasks-chat'));

    for (const path of ['tasks', 'library', 'playlists', 'settings']) {
      await page.goto(`${url}/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await picture(page, name(path));
    }
    if (phone) {
      await page.goto(url);
      await page.getByRole('button', { name: 'Open menu' }).click();
      await picture(page, name('drawer'));
    }
    await context.close();
  }
}
await browser.close();
