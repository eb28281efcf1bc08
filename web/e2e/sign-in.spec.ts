// A server with accounts: signing in and out, and what one person leaves behind for the next.
import type { Page } from '@playwright/test';
import { box, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');
test.use({ allowedErrors: [/status of 401/] });

const servers = new OwnServers();
let url = '';
test.beforeAll(async () => {
  servers.addUser('ann', 'open sesame');
  servers.addUser('bob', 'open sesame');
  url = await servers.segue({ SEGUE_AUTH: 'accounts' });
});
test.afterAll(() => servers.stop());

for (const width of [1280, 390]) {
  test(`a person signs in, and out again, at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${url}/settings`);
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await signIn(page, 'ann', 'wrong');
    await expect(page.getByRole('alert')).toHaveText('The name or the password is wrong.');
    await signIn(page, 'ann', 'open sesame');
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    await expect(page.getByText('ann', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect((await page.request.get(`${url}/api/me`)).status()).toBe(401);
  });
}

test('nothing of the page is shown before a person has signed in', async ({ page }) => {
  const seen: string[] = [];
  await page.exposeFunction('saw', (what: string) => seen.push(what));
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const heading = document.querySelector('h1')?.textContent;
      if (heading) void (window as unknown as { saw: (what: string) => void }).saw(heading);
    }).observe(document, { subtree: true, childList: true });
  });
  await page.goto(url);
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  expect(new Set(seen)).toEqual(new Set(['Sign in']));
});

test('unsent words wait for the person who wrote them, and for no one else', async ({ page, context }) => {
  const comeBackAs = async (name: string) => {
    await context.clearCookies();
    await page.goto(url);
    await signIn(page, name, 'open sesame');
    await expect(box(page)).toBeVisible();
  };
  await comeBackAs('ann');
  await box(page).fill('a secret of mine');
  await comeBackAs('ann');
  await expect(box(page)).toHaveValue('a secret of mine');
  await comeBackAs('bob');
  await expect(box(page)).toHaveValue('');
});

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}
