// The order of tasks is the person's: by keyboard and by hand.
import type { Page } from '@playwright/test';
import { axe } from './axe';
import { clearTasks, expect, test } from './fixtures';

test.beforeEach(async ({ page }) => {
  await clearTasks(page);
  await page.goto('/tasks');
  const origin = new URL(page.url()).origin;
  for (const title of ['One', 'Two', 'Three']) await page.request.post('/api/tasks', { data: { title }, headers: { origin } });
  await page.reload();
  await expect(rows(page)).toHaveText(['One', 'Two', 'Three']);
});

const rows = (page: Page) => page.getByRole('list', { name: 'Tasks' }).locator('.task-title');

test('Alt and the arrow keys move a task, Ctrl Z moves it back', async ({ page }) => {
  const one = page.getByRole('checkbox', { name: 'One' });
  await one.focus();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(rows(page)).toHaveText(['Two', 'One', 'Three']);
  await expect(one).toBeFocused();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Alt+ArrowDown');
  await expect(rows(page)).toHaveText(['Two', 'Three', 'One']);
  await page.keyboard.press('Alt+ArrowDown');
  await page.reload();
  await expect(rows(page)).toHaveText(['Two', 'Three', 'One']);
  const { tasks } = (await (await page.request.get('/api/tasks')).json()) as { tasks: { title: string }[] };
  expect(tasks.map(({ title }) => title)).toEqual(['Two', 'Three', 'One']);
  await page.getByRole('checkbox', { name: 'One' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(rows(page)).toHaveText(['Two', 'One', 'Three']);
  await page.keyboard.press('Control+z');
  await expect(rows(page)).toHaveText(['Two', 'Three', 'One']);
});

test('a task is dragged to another place, and Escape gives up', async ({ page }) => {
  const handle = page.getByRole('button', { name: 'Move Three' });
  const first = page.getByRole('list', { name: 'Tasks' }).locator('li').first();
  const drag = async (end: () => Promise<void>) => {
    await handle.hover();
    await page.mouse.down();
    const { x, y } = (await first.boundingBox())!;
    await page.mouse.move(x + 20, y + 4, { steps: 5 });
    await expect(first).toHaveAttribute('data-drop', 'before');
    await end();
  };
  await drag(async () => {
    await page.keyboard.press('Escape');
    await page.mouse.up();
  });
  await expect(rows(page)).toHaveText(['One', 'Two', 'Three']);
  await drag(() => page.mouse.up());
  await expect(rows(page)).toHaveText(['Three', 'One', 'Two']);
  await page.reload();
  await expect(rows(page)).toHaveText(['Three', 'One', 'Two']);
});
