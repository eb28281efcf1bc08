// Real Chromium against, in this order of preference:
//   SEGUE_URL  a Segue that already runs with the script of e2e/scenarios.mjs as its model
//   SEGUE_BIN  the binary, started here on a fresh data directory; `doubles` beside it plays the script
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import { CHROMIUM_ARGS } from './e2e/chromium.mjs';
import { SCRIPT } from './e2e/scenarios.mjs';

const PORT = Number(process.env.E2E_PORT ?? 8093);
const url = process.env.SEGUE_URL ?? `http://127.0.0.1:${PORT}`;
/** Each worker has a server of its own, see `baseURL` in e2e/fixtures.ts; only the real binary is started twice. */
const WORKERS = process.env.SEGUE_BIN && !process.env.SEGUE_URL ? 2 : 1;

function servers() {
  if (process.env.SEGUE_URL) return [];
  if (!process.env.SEGUE_BIN) throw new Error('Set SEGUE_BIN to the binary, or SEGUE_URL to a running server.');
  return Array.from({ length: WORKERS }, (_, worker) => server(process.env.SEGUE_BIN!, PORT + 2 * worker)).flat();
}

/** Settings with a tool of another server, which asks the person first. */
function settings(folder: string): string {
  const file = join(folder, 'segue.toml');
  const double = fileURLToPath(new URL('e2e/mcp-double.mjs', import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `[mcp.post]\ncommand = ['${process.execPath}', '${double}']\ntools = ['send_postcard']\n`);
  return file;
}

/** The model: a double that plays the scenarios. Its context is larger than any prompt of a test. */
function model(binary: string, folder: string, port: number) {
  const script = join(folder, 'script.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(script, JSON.stringify(SCRIPT));
  const double = join(dirname(binary), 'doubles');
  const listen = `127.0.0.1:${port}`;
  const options = `--family openai --name scripted --context 1000000 --script '${script}' --listen ${listen}`;
  return { command: `exec ${double} model ${options}`, url: `http://${listen}/v1/models` };
}

function server(binary: string, port: number) {
  const upstream = `http://127.0.0.1:${port + 1}`;
  // This file is read by every worker: a folder with a random name would be left behind by each.
  const folder = resolve(`node_modules/.cache/e2e-server-${port}`);
  const data = join(folder, 'data');
  return [
    model(binary, folder, port + 1),
    {
      command: `rm -rf '${data}' && ${binary} sample && exec ${binary} serve`,
      url: `http://127.0.0.1:${port}/api/about`,
      timeout: 120_000,
      env: {
        SEGUE_LISTEN: `127.0.0.1:${port}`,
        SEGUE_DATA_DIR: data,
        SEGUE_CONFIG: settings(folder),
        SEGUE_MODEL: 'openai:scripted',
        OPENAI_API_KEY: 'scripted',
        OPENAI_BASE_URL: `${upstream}/v1`,
        SEGUE_RATE_PER_MINUTE: '0',
        SEGUE_REQUESTS_PER_SECOND: '0',
        SEGUE_LOG: 'warn',
        SEGUE_CONCURRENT_TURNS: '0',
      },
    },
  ];
}

export default defineConfig({
  testDir: 'e2e',
  workers: WORKERS,
  fullyParallel: true,
  // The measurement of pictures a second wants the machine for itself, so it comes after the rest.
  projects: [
    { name: 'page', testIgnore: 'frames.spec.ts' },
    { name: 'frames', testMatch: 'frames.spec.ts', dependencies: ['page'] },
  ],
  // The suite shares its machine with the other tests. A test that needed a second try is reported as flaky.
  retries: 2,
  timeout: 45_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  outputDir: 'node_modules/.cache/e2e',
  webServer: servers(),
  use: {
    baseURL: url,
    // The tests name things in English; e2e/languages.spec.ts asks for others.
    locale: 'en-US',
    viewport: { width: 1280, height: 860 },
    // A worker answers before the routes of a test do; e2e/install.spec.ts allows it.
    serviceWorkers: 'block',
    // Recording every step costs a third of the time; a test that fails is recorded at its second try.
    trace: 'on-first-retry',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS },
  },
});
