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

test('a pasted list becomes several tasks', async ({ page }) => {
  await page.goto('/tasks');
  const field = page.getByRole('textbox', { name: 'New task' });
  await field.focus();
  await field.evaluate((element) => {
    const data = new DataTransfer();
    data.setData('text/plain', '- [ ] milk\n- eggs\n3. bread');
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await expect(page.getByRole('checkbox')).toHaveCount(3);
  await expect(page.getByRole('checkbox', { name: 'bread' })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('checkbox')).toHaveCount(0);
});

test('words too long for a title are kept whole', async ({ page }) => {
  const long = `Read https://example.org/${'a'.repeat(150)} and then ${'write about it '.repeat(10)}`.trim();
  await page.goto('/tasks');
  await page.getByRole('textbox', { name: 'New task' }).fill(long);
  await expect(page.getByText('the whole text is kept in the description')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.locator('.task-description')).toHaveText(long);
});

test('on a phone a new task is seen, however long the list', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/tasks');
  const origin = new URL(page.url()).origin;
  for (let n = 1; n <= 25; n++) await page.request.post('/api/tasks', { data: { title: `Task ${n}` }, headers: { origin } });
  await page.reload();
  await expect(page.getByRole('checkbox', { name: 'Task 1', exact: true })).toBeVisible();
  const field = page.getByRole('textbox', { name: 'New task' });
  await field.fill('The newest');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('checkbox', { name: 'The newest' })).toBeInViewport();
  await expect(field).toBeInViewport();
});

test('what is open comes first, what is done is folded and can be reopened', async ({ page }) => {
  await page.goto('/tasks');
  await add(page, 'First');
  await add(page, 'Second');
  await page.getByRole('checkbox', { name: 'First' }).click();
  await expect(page.getByText('1 task open')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: 'First' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('checkbox', { name: 'First' })).not.toBeChecked();
  await page.getByRole('checkbox', { name: 'First' }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('checkbox', { name: 'Second' })).toBeFocused();
});
