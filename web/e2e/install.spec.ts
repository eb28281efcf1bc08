// Installed like an app: a manifest, a page that opens without a network, things shared to it.
import { expect, test, box, token } from './fixtures';

test('the page can be installed', async ({ page }) => {
  await page.goto('/');
  const manifest = await page.request.get('/manifest.webmanifest');
  expect(manifest.headers()['content-type']).toContain('application/manifest+json');
  const { icons, share_target: share } = (await manifest.json()) as {
    icons: { src: string; type: string }[];
    share_target: { action: string };
  };
  for (const icon of icons) {
    const answer = await page.request.get(icon.src);
    expect(answer.status(), icon.src).toBe(200);
    expect(answer.headers()['content-type'], icon.src).toBe(icon.type);
  }
  expect(share.action).toBe('/');
  const worker = await page.request.get('/sw.js');
  expect(worker.headers()['content-type']).toContain('javascript');
});

test('what is shared waits in the composer and is not sent by itself', async ({ page }) => {
  const sent: string[] = [];
  page.on('request', (request) => request.url().includes('/api/chat') && sent.push(request.url()));
  await page.goto('/?title=A%20song&text=Do%20you%20know%20this%3F&url=https%3A%2F%2Fexample.org%2Fsong');
  await expect(box(page)).toHaveValue('A song\nDo you know this?\nhttps://example.org/song');
  await expect(page).toHaveURL(/\/$/);
  expect(sent).toEqual([]);
});

test.describe('with its service worker', () => {
  test.use({ serviceWorkers: 'allow', allowedErrors: [/ERR_INTERNET_DISCONNECTED|Failed to load resource|Failed to fetch/] });

  test('opens without a network, says what still works, and keeps no data', async ({ page, context }) => {
    await page.goto('/');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    const kept = await page.evaluate(async () => {
      const names = await caches.keys();
      const lists = await Promise.all(
        names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)),
      );
      return lists.flat();
    });
    expect(kept).toContain('/index.html');
    expect(kept.filter((path) => path.startsWith('/api'))).toEqual([]);

    await context.setOffline(true);
    await page.goto('/tasks');
    await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible();
    await expect(page.getByText('You are offline. You can read what is open')).toBeVisible();
    await page.goto('/');
    const words = `kept ${token()}`;
    await box(page).fill(words);
    await page.reload();
    await expect(box(page)).toHaveValue(words);
    await context.setOffline(false);
  });
});
