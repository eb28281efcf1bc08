// The trash: what was deleted comes back, or goes for good.
import type { Page } from '@playwright/test';
import { answered, ask, expect, test, token } from './fixtures';
import { axe } from './axe';

const row = (page: Page, title: string) => page.getByRole('list', { name: 'Deleted' }).getByRole('listitem').filter({ hasText: title });

async function api(page: Page, method: 'POST' | 'DELETE', path: string, data?: object): Promise<{ id: string }> {
  if (page.url() === 'about:blank') await page.goto('/trash');
  const response = await page.request.fetch(path, { method, data, headers: { origin: new URL(page.url()).origin } });
  return response.status() === 204 ? { id: '' } : ((await response.json()) as { id: string });
}

test('each kind of thing is restored where it was', async ({ page }) => {
  const name = token();
  const task = await api(page, 'POST', '/api/tasks', { title: `Task ${name}` });
  const playlist = await api(page, 'POST', '/api/playlists', { title: `Playlist ${name}` });
  await page.goto('/');
  await ask(page, `at once ${name}`);
  await answered(page);
  const conversation = page.url().split('/').at(-1);
  const { tracks } = (await (await page.request.get('/api/library/tracks?limit=1')).json()) as {
    tracks: { trackId: string; title: string }[];
  };
  const track = tracks[0]!;
  await page.goto('/trash');
  await api(page, 'DELETE', `/api/tasks/${task.id}`);
  await api(page, 'DELETE', `/api/playlists/${playlist.id}`);
  await api(page, 'DELETE', `/api/conversations/${conversation}`);
  await api(page, 'DELETE', `/api/library/tracks/${track.trackId}`);
  await page.reload();
  await expect(row(page, `Task ${name}`)).toContainText('30 days left');
  expect(await axe(page)).toEqual([]);
  for (const title of [`Task ${name}`, `Playlist ${name}`, `at once ${name}`, track.title]) {
    await row(page, title)
      .getByRole('button', { name: /^Restore/ })
      .click();
    await expect(row(page, title)).toHaveCount(0);
  }
  await page.goto('/tasks');
  await expect(page.getByRole('checkbox', { name: `Task ${name}` })).toBeVisible();
  await page.goto('/playlists');
  await expect(page.getByText(`Playlist ${name}`)).toBeVisible();
  await page.goto(`/c/${conversation}`);
  await expect(page.getByText('Short and complete.')).toBeVisible();
  expect((await page.request.get(`/api/library/tracks/${track.trackId}`)).status()).toBe(200);
});

test('deleting for good asks first, and cannot be restored', async ({ page }) => {
  const name = token();
  const task = await api(page, 'POST', '/api/tasks', { title: `Gone ${name}` });
  await api(page, 'DELETE', `/api/tasks/${task.id}`);
  await page.goto('/trash');
  await row(page, `Gone ${name}`)
    .getByRole('button', { name: `Delete Gone ${name} for good` })
    .click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('This cannot be undone.');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(row(page, `Gone ${name}`)).toBeVisible();
  await row(page, `Gone ${name}`)
    .getByRole('button', { name: `Delete Gone ${name} for good` })
    .click();
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await expect(row(page, `Gone ${name}`)).toHaveCount(0);
  const again = await page.request.post(`/api/tasks/${task.id}/restore`, { headers: { origin: new URL(page.url()).origin } });
  expect(again.status()).toBe(404);
});

test('the trash is found from the sidebar and emptied at once', async ({ page }) => {
  const task = await api(page, 'POST', '/api/tasks', { title: `Swept ${token()}` });
  await api(page, 'DELETE', `/api/tasks/${task.id}`);
  await page.goto('/');
  await page.getByRole('link', { name: 'Trash' }).click();
  await page.getByRole('button', { name: 'Empty the trash' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Empty the trash' }).click();
  await expect(page.getByRole('heading', { name: 'The trash is empty' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'The trash is empty' })).toBeVisible();
});

test('a deleted conversation is named without the marks of Markdown', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Tell me the name of the first ${token()}`);
  await answered(page);
  const origin = new URL(page.url()).origin;
  await page.request.delete(`/api/conversations/${page.url().split('/').at(-1)}`, { headers: { origin } });
  await page.goto('/trash');
  const deleted = page.getByRole('list', { name: 'Deleted' }).getByRole('listitem').first();
  await expect(deleted).toContainText('Begin with');
  await expect(deleted).not.toContainText('*');
});
