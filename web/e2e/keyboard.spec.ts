// Without a mouse: focus is never lost, and the last thing can be taken back.
import type { Page } from '@playwright/test';
import { answered, ask, box, clearTasks, expect, test, token } from './fixtures';

const focusIsSomewhere = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement !== null && document.activeElement !== document.body)).toBe(true);

test('focus stays in the list after a task is deleted, and Ctrl Z brings the task back', async ({ page }) => {
  await clearTasks(page);
  await page.goto('/tasks');
  for (const title of ['One', 'Two', 'Three']) {
    await page.getByRole('textbox', { name: 'New task' }).fill(title);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('checkbox', { name: title, exact: true })).toBeVisible();
  }
  await page.getByRole('button', { name: 'Delete Two' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('checkbox', { name: 'Two' })).toHaveCount(0);
  await expect(page.getByRole('checkbox', { name: 'Three' })).toBeFocused();
  await page.keyboard.press('Control+z');
  await expect(page.getByRole('checkbox', { name: 'Two' })).toBeVisible();
});

test('focus is not lost by deleting a conversation or leaving its new name', async ({ page }) => {
  const mark = token();
  await page.goto('/');
  await ask(page, `Answer at once ${mark}`);
  await answered(page);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  const more = list.getByRole('button', { name: new RegExp(`More for .*${mark}`) });
  await more.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  await expect(page.getByRole('textbox', { name: 'Conversation title' })).toBeFocused();
  await page.keyboard.press('Escape');
  await focusIsSomewhere(page);

  const address = page.url();
  await more.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await expect(more).toHaveCount(0);
  await focusIsSomewhere(page);
  await page.keyboard.press('Control+z');
  await expect(more).toHaveCount(1);
  // It was open when it was deleted: it is open again.
  await expect(page).toHaveURL(address);
});

test('Ctrl Z in a field with words belongs to the field', async ({ page }) => {
  await clearTasks(page);
  await page.goto('/tasks');
  await page.getByRole('textbox', { name: 'New task' }).fill('One');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete One' }).click();
  await expect(page.getByRole('checkbox', { name: 'One' })).toHaveCount(0);
  await page.getByRole('textbox', { name: 'New task' }).pressSequentially('Two');
  await page.keyboard.press('Control+z');
  await expect(page.getByRole('checkbox', { name: 'One' })).toHaveCount(0);
});

test('a toast never lies on the composer', async ({ page }) => {
  const mark = token();
  await page.goto('/');
  await ask(page, `Answer at once ${mark}`);
  await answered(page);
  await page.getByRole('button', { name: new RegExp(`More for .*${mark}`) }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  const toast = page.locator('.toast');
  await expect(toast).toBeVisible();
  const [low, high] = [await toast.boundingBox(), await box(page).boundingBox()];
  expect(low!.y + low!.height).toBeLessThanOrEqual(high!.y);
});

test('the palette finds pages and conversations', async ({ page }) => {
  const mark = token();
  await page.goto('/');
  await ask(page, `Answer at once ${mark}`);
  await answered(page);
  const address = page.url();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find anything' });
  await expect(field).toBeFocused();
  await page.keyboard.type('libr');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Library' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await field.fill(mark);
  await expect(page.getByRole('option', { name: new RegExp(mark) })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(address);
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('a long title stays inside the palette on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  const mark = token();
  await ask(page, `at once ${mark} a question that is much longer than a phone is wide, and goes on`);
  await answered(page);
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog');
  await palette.getByRole('combobox').fill(mark);
  await expect(palette.getByRole('option')).toHaveCount(1);
  const right = (box: { x: number; width: number } | null) => Math.round(box!.x + box!.width);
  const edge = right(await palette.boundingBox());
  expect(right(await palette.getByRole('option').boundingBox())).toBeLessThan(edge);
  expect(right(await palette.getByRole('combobox').boundingBox())).toBeLessThan(edge);
});

test('? lists the shortcuts, but is a letter in a field', async ({ page }) => {
  await page.goto('/tasks');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'New task' }).press('?');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('everything one taps is at least 44 px high', async ({ page }) => {
    await page.goto('/');
    await ask(page, `Songs for a rainy night drive ${token()}`);
    await answered(page);
    for (const path of [null, '/tasks', '/library', '/playlists', '/settings']) {
      if (path) await page.goto(path);
      await expect(page.getByRole('main')).toBeVisible();
      await page.waitForLoadState('networkidle');
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('main button, header button, header a, main summary')]
          .filter((element) => element.getClientRects().length > 0 && !element.matches('.task-check'))
          .map((element) => ({ height: Math.round(element.getBoundingClientRect().height), html: element.outerHTML.slice(0, 80) }))
          .filter(({ height }) => height < 44),
      );
      expect(small, path ?? 'chat').toEqual([]);
    }
  });
});
