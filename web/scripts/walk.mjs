// Takes the pictures in docs/walk: each step of the walk in 0.1 and in this version, side by side.
//
//   node scripts/walk.mjs OLD_BINARY NEW_BINARY [step…]
//
// Both binaries are started on data directories of their own, with the sample library and the offline model.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { CHROMIUM_ARGS } from '../e2e/chromium.mjs';
import { STEPS } from './walk-steps.mjs';

const OUT = fileURLToPath(new URL('../../docs/walk/', import.meta.url));
const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 }, shownWidth: 690 },
  phone: { viewport: { width: 390, height: 844 }, shownWidth: 390 },
};
const QUALITY = 0.7;
const [oldBinary, newBinary, ...only] = process.argv.slice(2);
if (!newBinary) throw new Error('Usage: node scripts/walk.mjs OLD_BINARY NEW_BINARY [step…]');
const unknown = only.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) throw new Error(`No such step: ${unknown.join(', ')}`);

const freePort = () =>
  new Promise((found) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

async function start(binary, withSample) {
  const folder = mkdtempSync(join(tmpdir(), 'segue-walk-'));
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    SEGUE_DATA_DIR: folder,
    SEGUE_LOG: 'error',
    SEGUE_LISTEN: `127.0.0.1:${port}`,
    // Since 0.2 the first start loads the sample by itself.
    ...(!withSample && { SEGUE_SAMPLE: 'off' }),
  };
  if (withSample) execFileSync(binary, ['sample'], { env, stdio: 'ignore' });
  const child = spawn(binary, ['serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/healthz`).catch(() => null))) await new Promise((again) => setTimeout(again, 100));
  const stop = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
}

/** Every step begins without what an earlier one left, so that its picture shows only what it is about. */
async function clear(page, url) {
  for (const kind of ['conversations', 'tasks', 'playlists']) {
    const list = (await (await page.request.get(`${url}/api/${kind}`)).json())[kind];
    for (const { id } of list) await page.request.delete(`${url}/api/${kind}/${id}`, { headers: { origin: url } });
  }
}

async function picture(browser, step, { url, isOld, size, theme }) {
  const isPhone = size === 'phone';
  const context = await browser.newContext({
    viewport: SIZES[size].viewport,
    colorScheme: theme,
    hasTouch: isPhone,
    isMobile: isPhone,
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  try {
    await clear(page, url);
    await step.show({ page, url, isOld, isPhone });
    await page.waitForLoadState('networkidle');
    await page.evaluate(() => document.fonts.ready);
    await page.mouse.move(0, 0);
    return (await page.screenshot()).toString('base64');
  } finally {
    await context.close();
  }
}

/** Runs in the browser: both pictures under their versions, as a data URL. */
async function sideBySide({ pictures, width, quality }) {
  const gap = 20;
  const head = 34;
  const images = await Promise.all(
    pictures.map(async (data) => {
      if (!data) return null;
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      return image;
    }),
  );
  const { width: w, height: h } = images.find(Boolean);
  const height = Math.round((h * width) / w);
  const canvas = document.createElement('canvas');
  canvas.width = 2 * width + gap;
  canvas.height = height + head;
  const draw = canvas.getContext('2d');
  draw.imageSmoothingQuality = 'high';
  draw.fillStyle = '#fff';
  draw.fillRect(0, 0, canvas.width, canvas.height);
  for (const [at, image] of images.entries()) {
    const x = at * (width + gap);
    draw.fillStyle = '#333';
    draw.font = '600 17px sans-serif';
    draw.textAlign = 'left';
    draw.fillText(at === 0 ? 'Version 0.1' : 'Version 0.2', x + 2, 22);
    if (image) draw.drawImage(image, x, head, width, height);
    else {
      draw.fillStyle = '#eee';
      draw.fillRect(x, head, width, height);
      draw.fillStyle = '#666';
      draw.textAlign = 'center';
      draw.fillText('Not in 0.1', x + width / 2, head + height / 2);
    }
    draw.strokeStyle = '#bbb';
    draw.strokeRect(x + 0.5, head + 0.5, width - 1, height - 1);
  }
  return canvas.toDataURL('image/webp', quality);
}

async function keep(canvas, name, pictures, width) {
  const url = await canvas.evaluate(sideBySide, { pictures, width, quality: QUALITY });
  const bytes = Buffer.from(url.split(',')[1], 'base64');
  writeFileSync(join(OUT, `${name}.webp`), bytes);
  console.log(`${name}.webp ${Math.round(bytes.length / 1024)} KB`);
}

async function walk(browser, canvas, size) {
  const servers = [];
  const begin = async (binary, withSample) => {
    servers.push(await start(binary, withSample));
    return servers.at(-1).url;
  };
  try {
    const at = { old: await begin(oldBinary, true), new: await begin(newBinary, true) };
    const empty = { old: await begin(oldBinary, false), new: await begin(newBinary, false) };
    for (const [n, step] of STEPS.entries()) {
      if (only.length > 0 && !only.includes(step.name)) continue;
      for (const theme of step.dark ? ['light', 'dark'] : ['light']) {
        const of = step.empty ? empty : at;
        const name = [String(n + 1).padStart(2, '0'), step.name, size, ...(theme === 'dark' ? ['dark'] : [])].join('-');
        try {
          const before = step.isNew ? null : await picture(browser, step, { url: of.old, isOld: true, size, theme });
          const now = await picture(browser, step, { url: of.new, isOld: false, size, theme });
          await keep(canvas, name, [before, now], SIZES[size].shownWidth);
        } catch (error) {
          // The other steps do not depend on this one.
          console.error(`${name}: ${error}`);
          process.exitCode = 1;
        }
      }
    }
  } finally {
    servers.forEach(({ stop }) => stop());
  }
}

mkdirSync(OUT, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
try {
  const canvas = await browser.newPage();
  for (const size of Object.keys(SIZES)) await walk(browser, canvas, size);
} finally {
  await browser.close();
}
