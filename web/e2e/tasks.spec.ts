// The to-do list by hand.
import { clearTasks, expect, test } from './fixtures';

test.beforeEach(async ({ page }) => clearTasks(page));

async function add(page: import('@playwright/test').Page, title: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New task' }).fill(title);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('checkbox', { name: title, exact: true })).toBeVisible();
}

test('Enter on Cancel cancels', async ({ page }) => {
  await page.goto('/tasks');
  await add(page, 'Pay rent');
  await page.getByRole('button', { name: 'Edit Pay rent' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Pay rent CHANGED');
  await page.getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveCount(0);
  await expect(page.getByRole('checkbox', { name: 'Pay rent', exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('checkbox', { name: 'Pay rent', exact: true })).toBeVisible();
});

test('Enter that picks a word of an input method saves nothing', async ({ page }) => {
  await page.goto('/tasks');
  await add(page, 'Buy milk');
  await page.getByRole('button', { name: 'Edit Buy milk' }).click();
  const title = page.getByRole('textbox', { name: 'Title' });
  await title.fill('ミルク');
  await title.dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
  await expect(title).toBeVisible();
  await title.press('Enter');
  await expect(page.getByRole('checkbox', { name: 'ミルク' })).toBeVisible();
});
