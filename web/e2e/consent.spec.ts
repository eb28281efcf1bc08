// A tool of another server acts only after the person's own decision.
import type { Page } from '@playwright/test';
import { answered, answers, ask, expect, questions, test, token } from './fixtures';

const card = (page: Page) => page.getByRole('region', { name: 'Allow send postcard on post?' });
const sent = (page: Page) => answers(page).filter({ hasText: 'The postcard is on its way.' });

async function asked(page: Page): Promise<void> {
  await page.goto('/');
  await ask(page, `a postcard ${token()}`);
  await expect(card(page).getByRole('button', { name: 'Allow once' })).toBeEnabled({ timeout: 30_000 });
}

test('what a tool would do is shown, and runs once it is allowed, also after a reload', async ({ page }) => {
  await asked(page);
  await expect(card(page)).toContainText('It rains here.');
  await expect(page.getByTestId('announcer')).toContainText('waits for your decision');
  await page.reload();
  // From the keyboard: the first answer is the next thing to reach inside the card.
  await card(page).getByRole('button', { name: 'Allow once' }).press('Enter');
  await expect(sent(page)).toHaveCount(1, { timeout: 30_000 });
  await answered(page);
  await expect(card(page)).toContainText('Allowed once');
  await expect(card(page).getByRole('button')).toHaveCount(0);
  await page.reload();
  await expect(card(page)).toContainText('Allowed once');
  // Once is once: the next call asks again.
  await ask(page, `another postcard ${token()}`);
  await expect(card(page).last().getByRole('button', { name: 'Allow once' })).toBeEnabled({ timeout: 30_000 });
});

test('allowed in this conversation, the next call runs without asking', async ({ page }) => {
  await asked(page);
  await card(page).getByRole('button', { name: 'Allow in this conversation' }).click();
  await expect(sent(page)).toHaveCount(1, { timeout: 30_000 });
  await ask(page, `another postcard ${token()}`);
  await expect(sent(page)).toHaveCount(2, { timeout: 30_000 });
  await expect(card(page)).toHaveCount(1);
});

test('a refusal runs nothing, keeps the focus and is remembered', async ({ page }) => {
  await asked(page);
  await card(page).getByRole('button', { name: 'Refuse' }).press('Enter');
  await expect(card(page)).toContainText('Refused. Nothing was done.');
  await expect(card(page).getByText('Refused. Nothing was done.')).toBeFocused();
  await page.reload();
  await expect(card(page)).toContainText('Refused. Nothing was done.');
  await expect(questions(page)).toHaveCount(1);
  await expect(sent(page)).toHaveCount(0);
});
