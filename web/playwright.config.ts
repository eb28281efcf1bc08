// Real Chromium against, in this order of preference:
//   SEGUE_URL  a Segue that already runs with the scripted upstream (e2e/scripted-upstream.mjs) as its model
//   SEGUE_BIN  the binary, started here together with that upstream, on a fresh data directory
//   neither    the mock server, which plays the same scenarios
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { CHROMIUM_ARGS } from './e2e/chromium.mjs';

const PORT = Number(process.env.E2E_PORT ?? 8093);
const UPSTREAM_PORT = PORT + 1;
const url = process.env.SEGUE_URL ?? `http://127.0.0.1:${PORT}`;

function servers() {
  if (process.env.SEGUE_URL) return [];
  if (!process.env.SEGUE_BIN) return [{ command: `node e2e/mock-server.mjs ${PORT}`, url: `${url}/api/about` }];
  const upstream = `http://127.0.0.1:${UPSTREAM_PORT}`;
  return [
    { command: `node e2e/scripted-upstream.mjs ${UPSTREAM_PORT}`, url: `${upstream}/healthz` },
    {
      command: `${process.env.SEGUE_BIN} sample && exec ${process.env.SEGUE_BIN} serve`,
      url: `${url}/api/about`,
      timeout: 120_000,
      env: {
        SEGUE_LISTEN: `127.0.0.1:${PORT}`,
        SEGUE_DATA_DIR: mkdtempSync(join(tmpdir(), 'segue-e2e-')),
        SEGUE_MODEL: 'openai:scripted',
        OPENAI_API_KEY: 'scripted',
        OPENAI_BASE_URL: `${upstream}/v1`,
        SEGUE_RATE_PER_MINUTE: '0',
        SEGUE_LOG: 'warn',
        SEGUE_CONCURRENT_TURNS: '0',
      },
    },
  ];
}

export default defineConfig({
  testDir: 'e2e',
  // One browser at a time: the tests share one server and one to-do list, and the frame measurement wants the machine.
  workers: 1,
  // A second chance on the build machine; a test that needed it is reported as flaky.
  retries: process.env.CI ? 1 : 0,
  timeout: 45_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  outputDir: 'node_modules/.cache/e2e',
  webServer: servers(),
  use: {
    baseURL: url,
    viewport: { width: 1280, height: 860 },
    trace: 'retain-on-failure',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS },
  },
});
