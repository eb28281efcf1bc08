// Nothing written is lost: neither what a model says nor what a person sends.
import { answers, ask, box, expect, questions, test, token } from './fixtures';
import { refuse } from './played';

const heard = (page: import('@playwright/test').Page) => page.getByTestId('announcer').textContent();

test('text in angle brackets is shown as it was written', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Say something in angle brackets ${token()}`);
  const answer = answers(page);
  await expect(answer).toContainText('SEGUE_MODEL=openai:<model> and press <Enter>. A generic is List<String>.');
  await expect(answer).toContainText('<details>');
  await expect(answer).toContainText('A block of its own.');
  // A single line break is a line break.
  expect(await answer.innerText()).toMatch(/List<String>\.\nThis is the second line\./);
});

test('every answer is announced, however fast it comes', async ({ page }) => {
  await page.goto('/');
  for (let turn = 1; turn <= 5; turn++) {
    const mark = token();
    await page.route('**/api/chat/stream', async (route) => {
      // The whole turn in one piece: what a fast model and a slow browser make of it.
      const response = await route.fetch();
      const body = (await response.text()).replace('"content":"', `"content":"${mark} `);
      await route.fulfill({ response, body });
    });
    await ask(page, `Answer at once ${mark}`);
    await expect(questions(page)).toHaveCount(turn);
    await expect.poll(() => heard(page), `turn ${turn}`).toContain(mark);
    await page.unroute('**/api/chat/stream');
  }
});

test('a stored answer is not announced again', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Answer at once ${token()}`);
  await expect.poll(() => heard(page)).toContain('Short and complete.');
  await page.reload();
  await expect(answers(page)).toContainText('Short and complete.');
  expect(await heard(page)).toBe('');
});

test.describe('a message the server refuses', () => {
  test.use({ allowedErrors: [/status of (429|500|401)/] });

  test('goes back to the composer, is announced, and survives a reload', async ({ page }) => {
    await page.route('**/api/chat/stream', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '30' },
        json: { error: { code: 'RATE_LIMITED', message: 'You have sent many messages.', details: [] } },
      }),
    );
    await page.goto('/');
    await ask(page, 'a carefully written important message');
    await expect(page.getByText('You have sent many messages.').first()).toBeVisible();
    await expect(box(page)).toHaveValue('a carefully written important message');
    await expect.poll(() => heard(page)).toContain('You have sent many messages.');
    await expect(page.getByRole('button', { name: /Try again in \d+ s/ })).toBeDisabled();
    await expect(questions(page)).toHaveCount(0);
    await page.reload();
    await expect(box(page)).toHaveValue('a carefully written important message');
  });

  test('is sent again with what was typed since, and counts once', async ({ page }) => {
    const sent: string[] = [];
    await page.route('**/api/chat/stream', (route) => {
      sent.push((route.request().postDataJSON() as { clientMessageId: string }).clientMessageId);
      return sent.length === 1 ? refuse(route, 500, 'INTERNAL_ERROR', 'It broke.') : route.continue();
    });
    await page.goto('/');
    const mark = token();
    await ask(page, `Answer at once ${mark}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(answers(page)).toContainText('Short and complete.');
    await expect(box(page)).toHaveValue('');
    await expect(page.locator('.refusal')).toHaveCount(0);
    await expect(questions(page)).toHaveCount(1);
    expect(new Set(sent).size).toBe(1);
  });
});

test.describe('a message that never reached the server', () => {
  test.use({ allowedErrors: [/Failed to load resource|ERR_/] });

  test('is in the composer after a reload, and counts once', async ({ page }) => {
    const sent: string[] = [];
    let away = true;
    await page.route('**/api/chat/stream', (route) => {
      sent.push((route.request().postDataJSON() as { clientMessageId: string }).clientMessageId);
      return away ? route.abort() : route.continue();
    });
    await page.goto('/');
    const words = `Answer at once ${token()}`;
    await ask(page, words);
    await expect(page.getByText('Not sent yet')).toBeVisible();
    await page.reload();
    await expect(box(page)).toHaveValue(words);
    away = false;
    await box(page).press('Enter');
    await expect(answers(page)).toContainText('Short and complete.');
    expect(new Set(sent).size).toBe(1);
    await page.reload();
    await expect(box(page)).toHaveValue('');
  });
});

test('what is typed stays when the agent is switched', async ({ page }) => {
  await page.goto('/');
  await box(page).fill('call the piano tuner');
  await page.getByRole('button', { name: 'Tasks', exact: true }).click();
  await expect(page).toHaveURL(/agent=tasks/);
  await expect(box(page)).toHaveValue('call the piano tuner');
});
