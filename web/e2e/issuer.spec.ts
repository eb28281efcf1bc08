// The page where another issuer gives the tokens out: a real Better Auth server and the binary, on ports of their own.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { request as requests } from '@playwright/test';
import { answered, answers, ask, expect, test } from './fixtures';

// Playwright opens the page before anybody is signed in, and the browser says so.
test.use({ allowedErrors: [/401/] });
test.skip(!process.env.SEGUE_BIN, 'needs the binary');

const freePort = () =>
  new Promise<number>((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => found(port));
    });
  });

let processes: ChildProcess[] = [];
let issuer = '';
let segue = '';

test.beforeAll(async () => {
  segue = `http://127.0.0.1:${await freePort()}`;
  const betterAuth = spawn('node', ['server.mjs', 'EdDSA', segue], {
    cwd: resolve('../tests/better-auth'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  processes.push(betterAuth);
  issuer = await new Promise<string>((told) => createInterface(betterAuth.stdout).once('line', told));
  const server = spawn(resolve(process.env.SEGUE_BIN!), ['serve'], {
    stdio: 'inherit',
    env: {
      PATH: process.env.PATH,
      SEGUE_LISTEN: new URL(segue).host,
      SEGUE_DATA_DIR: mkdtempSync(join(tmpdir(), 'segue-issuer-')),
      SEGUE_MODEL: 'offline',
      SEGUE_LOG: 'warn',
      SEGUE_AUTH: 'jwt',
      SEGUE_JWKS_URL: `${issuer}/api/auth/jwks`,
      SEGUE_JWT_ISSUER: issuer,
      SEGUE_JWT_AUDIENCE: issuer,
      SEGUE_TOKEN_URL: `${issuer}/api/auth/token`,
      SEGUE_SIGN_IN_URL: `${issuer}/sign-in`,
    },
  });
  processes.push(server);
  const client = await requests.newContext();
  await expect.poll(async () => (await client.get(`${segue}/healthz`).catch(() => null))?.status(), { timeout: 60_000 }).toBe(200);
  const form = { email: 'ann@example.com', password: 'correct horse', name: 'Ann' };
  await client.post(`${issuer}/api/auth/sign-up/email`, { data: form, headers: { origin: issuer } });
  await client.dispose();
});

test.afterAll(() => {
  processes.forEach((process) => process.kill());
  processes = [];
});

test('signed in at the issuer is signed in here: there, back, chat, renewed, out', async ({ page, context }) => {
  await page.clock.install();
  await page.goto(`${segue}/`);
  await page.getByRole('link', { name: /^Sign in at/ }).click();
  await expect(page.getByRole('heading', { name: 'Sign in here' })).toBeVisible();
  await page.getByLabel('Email').fill('ann@example.com');
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Sign in' }).click();

  // Back, and in.
  await expect(page).toHaveURL(`${segue}/`);
  await ask(page, 'add milk to my tasks');
  await answered(page);
  await expect(answers(page)).toHaveCount(1);
  const session = async () => (await context.cookies(segue)).find((cookie) => cookie.name === 'segue_session');
  const first = await session();
  expect(first).toMatchObject({ httpOnly: true, sameSite: 'Lax' });

  // A minute before its end the token is fetched and exchanged again, and the cookie lives longer.
  const renewal = page.waitForResponse(`${segue}/api/auth/session`);
  await page.clock.fastForward('14:10');
  expect((await renewal).status()).toBe(200);
  await expect.poll(async () => (await session())?.value).not.toBe(first?.value);

  // Signed out there is signed out here, as soon as someone comes back to the tab.
  await page.request.post(`${issuer}/api/auth/sign-out`, { headers: { origin: issuer }, data: {} });
  await page.clock.fastForward('00:30');
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(page.getByRole('link', { name: /^Sign in at/ })).toBeVisible();
  expect(await session()).toBeUndefined();
});
