// What every browser test holds the page to: no other host, no console error, no uncaught exception.
import { expect, test as base, type Page } from '@playwright/test';

export { expect };

interface Guards {
  /** Console lines a test provokes on purpose. */
  allowedErrors: RegExp[];
  guarded: void;
}

export const test = base.extend<Guards>({
  // Tests at the same time must not see each other's tasks and conversations: every worker has its own server.
  baseURL: async ({ baseURL }, use, { parallelIndex }) => {
    const home = new URL(baseURL ?? '');
    home.port = String(Number(home.port) + 2 * parallelIndex);
    await use(home.origin);
  },
  allowedErrors: [[], { option: true }],
  guarded: [
    async ({ context, baseURL, allowedErrors }, use) => {
      const others: string[] = [];
      const errors: string[] = [];
      // The host, not the port: a test may put its own wire in between.
      const home = new URL(baseURL ?? '').hostname;
      context.on('request', (request) => {
        const url = new URL(request.url());
        if (url.hostname !== home && !['data:', 'blob:'].includes(url.protocol)) others.push(request.url());
      });
      context.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      context.on('weberror', (event) => errors.push(String(event.error())));
      await use();
      expect(others, 'requests to other hosts').toEqual([]);
      expect(
        errors.filter((error) => !allowedErrors.some((allowed) => allowed.test(error))),
        'console errors',
      ).toEqual([]);
    },
    { auto: true },
  ],
});

export const box = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
export const thread = (page: Page) => page.locator('.thread');
export const answers = (page: Page) => page.getByRole('article', { name: 'Segue' });
export const questions = (page: Page) => page.getByRole('article', { name: 'You' });

export async function ask(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press('Enter');
}

/** An answer is complete when it can be acted on and nothing can be stopped any more. */
export async function answered(page: Page): Promise<void> {
  await expect(answers(page).last().getByRole('button', { name: 'More about this answer' })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0);
}

export async function clearTasks(page: Page): Promise<void> {
  const { tasks } = (await (await page.request.get('/api/tasks')).json()) as { tasks: { id: string }[] };
  const origin = new URL(page.url() === 'about:blank' ? (await page.goto('/tasks'), page.url()) : page.url()).origin;
  for (const { id } of tasks) await page.request.delete(`/api/tasks/${id}`, { headers: { origin } });
}

/** Words that make a message this test's own, so that one server can serve them all. */
export const token = () => Math.random().toString(36).slice(2, 8);
