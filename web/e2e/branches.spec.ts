// Versions of questions and answers: nothing is lost by asking again.
import type { Locator, Page } from '@playwright/test';
import { answered, answers, ask, box, expect, questions, test, token } from './fixtures';

const versions = (of: Locator) => of.getByRole('group', { name: /^Versions of/ });

async function editLast(page: Page, words: string): Promise<void> {
  await questions(page).last().hover();
  await questions(page).last().getByRole('button', { name: 'Edit question' }).click();
  await page.getByRole('textbox', { name: 'Edit your question' }).fill(words);
  await page.getByRole('button', { name: 'Ask again' }).click();
  await expect(questions(page).last()).toContainText(words);
  await answered(page);
}

test('an edited question keeps the earlier one, here and elsewhere', async ({ page, context }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once ${name} first`);
  await answered(page);
  await editLast(page, `at once ${name} second`);
  await expect(questions(page)).toHaveCount(1);
  await expect(versions(questions(page).first())).toContainText('2/2');

  await page.getByRole('button', { name: 'Earlier version of this question' }).click();
  await expect(questions(page).first()).toContainText(`${name} first`);
  await expect(versions(questions(page).first())).toContainText('1/2');
  await page.reload();
  await expect(questions(page).first()).toContainText(`${name} first`);
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(questions(second).first()).toContainText(`${name} first`);
  // The other tab follows without a reload.
  await page.getByRole('button', { name: 'Later version of this question' }).click();
  await expect(questions(second).first()).toContainText(`${name} second`);
});

test('another answer stands beside the first, each with what came after it', async ({ page }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once ${name}`);
  await answered(page);
  await ask(page, `at once ${name} next`);
  await answered(page);
  await answers(page).first().getByRole('button', { name: 'Answer again' }).click();
  await expect(questions(page)).toHaveCount(1);
  await answered(page);
  await expect(versions(answers(page).first())).toContainText('2/2');
  await page.getByRole('button', { name: 'Earlier version of this answer' }).click();
  await expect(questions(page)).toHaveCount(2);
  await expect(questions(page).last()).toContainText(`${name} next`);
  await page.getByRole('button', { name: 'Later version of this answer' }).click();
  await expect(questions(page)).toHaveCount(1);
});

test('the last question is edited from the keyboard alone, and Escape leaves it as it was', async ({ page }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once ${name}`);
  await answered(page);
  await expect(questions(page).last().getByRole('button', { name: 'Edit question' })).toBeAttached();
  await box(page).press('ArrowUp');
  const field = page.getByRole('textbox', { name: 'Edit your question' });
  await expect(field).toBeFocused();
  await field.fill('something else');
  await field.press('Escape');
  await expect(questions(page).last()).toContainText(name);
  await expect(page.getByRole('button', { name: 'Edit question' })).toBeFocused();
  await box(page).focus();
  await box(page).press('ArrowUp');
  await field.fill(`at once ${name} again`);
  await field.press('Enter');
  await answered(page);
  await expect(questions(page).last()).toContainText(`${name} again`);
  await expect(box(page)).toBeFocused();
});

test('trying again after a failure keeps one question and both answers', async ({ page }) => {
  await page.goto('/');
  await ask(page, `break once ${token()}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await answered(page);
  await expect(answers(page).last()).toContainText('on the second try');
  await expect(questions(page)).toHaveCount(1);
  await expect(versions(answers(page).last())).toContainText('2/2');
});

test('every message tells when it was written', async ({ page }) => {
  await page.goto('/');
  await ask(page, `at once ${token()}`);
  await answered(page);
  for (const message of [questions(page).last(), answers(page).last()]) {
    await message.hover();
    await expect(message.locator('time')).toBeVisible();
    await expect(message.locator('time')).toHaveAttribute('title', /\d{4}/);
  }
});

test('a saved conversation holds every branch as JSON and the shown one as Markdown', async ({ page }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once ${name} first`);
  await answered(page);
  await editLast(page, `at once ${name} second`);
  const entry = page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').filter({ hasText: name });
  const save = async (item: string) => {
    await entry.hover();
    await entry.getByRole('button', { name: /^More for/ }).click();
    const waiting = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: item }).click();
    const file = await (await waiting).createReadStream();
    let text = '';
    for await (const part of file) text += String(part);
    return text;
  };
  const markdown = await save('Save as Markdown');
  expect(markdown).toContain(`${name} second`);
  expect(markdown.replace(/^# .*$/m, '')).not.toContain(`${name} first`);
  const json = JSON.parse(await save('Save as JSON')) as { branch: string[]; messages: unknown[] };
  expect(json.messages).toHaveLength(4);
  expect(json.branch).toHaveLength(2);
});
