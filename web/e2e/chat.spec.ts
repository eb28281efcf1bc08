// A conversation as a person has it: watch, open, reload, stop, retry, come back.
import { cutLine } from './cut-line';
import { answered, answers, ask, box, expect, questions, test, thread, token } from './fixtures';

test('a Discover turn is watched, opened and looked into', async ({ page }) => {
  await page.goto('/');
  await ask(page, 'Songs for a rainy night drive');
  // Not the announcer, which says it too.
  await expect(page.locator('.tool-title', { hasText: /Search(ing|ed) your library for 'rainy nights'/ })).toBeVisible();
  await answered(page);
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}$/);

  // The best few stand in the answer itself; nothing has to be opened to see them.
  const card = page.getByRole('group', { name: /Searched your library/ });
  await expect(card.getByRole('listitem')).toHaveCount(5);
  const first = card.getByRole('listitem').first();
  await expect(first).toContainText(/(Strong|Good|Weak) match/);
  await expect(card).not.toContainText(/Indexed|\d+%/);
  await first.getByRole('button').first().click();
  await expect(first.getByText('Energy', { exact: true })).toBeVisible();
  await first.getByRole('button', { name: 'Interpretation' }).click();
  await expect(first.locator('.interpretation')).not.toBeEmpty();
});

test('a reopened conversation reads exactly as it did live', async ({ page }) => {
  await page.goto('/');
  await ask(page, 'Is there anything in the Tidal catalogue about night trains?');
  await answered(page);
  await expect(page.getByRole('group', { name: /Searching the Tidal catalogue/ })).toContainText('The agent continues without it');
  const live = await thread(page).innerText();
  await page.reload();
  await expect(answers(page)).toHaveCount(1);
  await answered(page);
  expect(await thread(page).innerText()).toBe(live);
});

test('a reload in the middle of a turn goes on where it was', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Please take your time ${token()}`);
  await expect(answers(page)).toContainText('slow rain on the window');
  await page.reload();
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  await expect(answers(page)).toContainText('Let me think about that.');
  await answered(page);
  await expect(answers(page)).toHaveCount(1);
  await expect(questions(page)).toHaveCount(1);
  const text = await answers(page).innerText();
  expect(text.match(/Let me think about that\./g)).toHaveLength(1);
  expect(text).toContain('That was all.');
});

test('a second tab follows the same turn to the same end', async ({ page, context }) => {
  await page.goto('/');
  await ask(page, `Please take your time ${token()}`);
  await expect(answers(page)).toContainText('slow rain');
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  await Promise.all([answered(page), answered(other)]);
  // Not the rendered text: the tab behind draws nothing until it is looked at.
  expect(await thread(other).textContent()).toBe(await thread(page).textContent());

  await ask(page, `Songs for a rainy night drive ${token()}`);
  await answered(page);
  await expect(answers(other)).toHaveCount(2);
  await answered(other);
});

for (const how of ['the button', 'Escape']) {
  test(`stopping with ${how} keeps what was said`, async ({ page }) => {
    await page.goto('/');
    await ask(page, `Please take your time ${token()}`);
    await expect(answers(page)).toContainText('slow rain');
    if (how === 'Escape') await page.keyboard.press('Escape');
    else await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(answers(page).getByText('Stopped', { exact: true })).toBeVisible();
    await answered(page);
    const live = await thread(page).innerText();
    expect(live).toContain('slow rain');
    expect(live).not.toContain('That was all.');
    await page.reload();
    await answered(page);
    expect(await thread(page).innerText()).toBe(live);
  });
}

test('what is typed while a conversation begins is still there when it has', async ({ page }) => {
  let begin = () => {};
  const may = new Promise<void>((resolve) => (begin = resolve));
  await page.route('**/api/chat/stream', async (route) => {
    await may;
    await route.continue();
  });
  const mark = token();
  await page.goto('/');
  await ask(page, `Rainy songs ${mark}`);
  await box(page).pressSequentially('and then');
  begin();
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}$/);
  await expect(box(page)).toBeFocused();
  await page.keyboard.type(' something else');
  await expect(box(page)).toHaveValue('and then something else');
  await answered(page);
  await expect(page).toHaveTitle(/^Rainy nights · \d+ tracks · Segue$/);
  await page.getByRole('link', { name: 'New chat' }).click();
  await expect(box(page)).toHaveValue('');
});

test('Escape in a search field empties it and stops nothing', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Please take your time ${token()}`);
  await expect(answers(page)).toContainText('slow rain');
  const search = page.getByRole('searchbox', { name: 'Search conversations' });
  await search.fill('rain');
  await search.press('Escape');
  await expect(search).toHaveValue('');
  await answered(page);
  await expect(answers(page)).toContainText('That was all.');
});

test('an answer is copied as it was written', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  await ask(page, 'Songs for a rainy night drive');
  await answered(page);
  await page.getByRole('button', { name: 'Copy answer' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('Let me listen through your library for that.');
  expect(copied).toContain('1. **Two-Lane Prayer**');
});

test('an error says what happened, and trying again doubles nothing', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Please break once ${token()}`);
  const again = page.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible({ timeout: 20_000 });
  await again.click();
  await expect(answers(page).last()).toContainText('Two-Lane Prayer');
  await answered(page);
  await expect(questions(page)).toHaveCount(1);
  await expect(again).toHaveCount(0);
  const live = await thread(page).innerText();
  await page.reload();
  await answered(page);
  expect(await thread(page).innerText()).toBe(live);
});

test('an answer that ran out of steps can go on', async ({ page }) => {
  await page.goto('/');
  await ask(page, `Search without end ${token()}`);
  await expect(page.getByText('as many steps as one answer may take')).toBeVisible({ timeout: 20_000 });
  await answered(page);
  const live = await thread(page).innerText();
  await page.reload();
  await answered(page);
  expect(await thread(page).innerText()).toBe(live);
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(answers(page)).toHaveCount(2);
  await answered(page);
  await expect(page.getByRole('button', { name: 'Go on' })).toHaveCount(0);
});

test('a message written during a turn waits for its end', async ({ page }) => {
  await page.goto('/');
  const mark = token();
  await ask(page, `Please take your time ${mark}`);
  await expect(answers(page)).toContainText('slow rain');
  await ask(page, `And a rainy one ${mark}`);
  await ask(page, `Never mind this ${mark}`);
  const queue = page.getByRole('list', { name: 'Waiting to be sent' });
  await expect(queue.getByRole('listitem')).toHaveCount(2);
  await queue.getByRole('button', { name: `Do not send “Never mind this ${mark}”` }).click();
  await page.reload();
  await expect(queue.getByRole('listitem')).toHaveCount(1);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(questions(page)).toHaveCount(2);
  await answered(page);
  await expect(answers(page).last()).toContainText('Let me listen through your library');
});

test.describe('without a network', () => {
  test.use({ allowedErrors: [/ERR_INTERNET_DISCONNECTED|Failed to load resource|ERR_NETWORK_CHANGED/] });

  test('a turn is picked up again by itself', async ({ page, context }) => {
    await page.goto('/');
    await ask(page, `Please take your time ${token()}`);
    await expect(answers(page)).toContainText('slow rain');
    await context.setOffline(true);
    await expect(page.getByText('You are offline')).toBeVisible();
    await context.setOffline(false);
    await expect(page.getByText('You are offline')).toHaveCount(0);
    await answered(page);
    const text = await answers(page).innerText();
    expect(text).toContain('That was all.');
    expect(text.match(/Let me think about that\./g)).toHaveLength(1);
  });

  test('a message sent into the void is delivered once when the network is back', async ({ page, context }) => {
    await page.goto('/');
    await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
    await context.setOffline(true);
    await ask(page, `Songs for a rainy night drive ${token()}`);
    await expect(page.getByText('Not sent yet')).toBeVisible();
    await expect(page.getByText('Connection lost')).toHaveCount(0);
    await context.setOffline(false);
    await answered(page);
    await page.reload();
    await expect(questions(page)).toHaveCount(1);
    await expect(answers(page)).toHaveCount(1);
  });
});

test.describe('over a line that is cut again and again', () => {
  test.use({ allowedErrors: [/ERR_CONNECTION|ERR_INCOMPLETE|ERR_NETWORK|ERR_EMPTY_RESPONSE|Failed to load resource/] });

  test('an answer arrives whole, each word once', async ({ page, baseURL }) => {
    const wire = await cutLine(baseURL ?? '');
    try {
      await page.goto(wire.url);
      await ask(page, `Please take your time ${token()}`);
      const length = async () => (await answers(page).innerText()).length;
      for (let cuts = 0; cuts < 4; cuts++) {
        const before = cuts === 0 ? 40 : (await length()) + 60;
        await expect.poll(length).toBeGreaterThan(before);
        wire.cut();
      }
      await answered(page);
      const live = await thread(page).innerText();
      await page.reload();
      await answered(page);
      expect(await thread(page).innerText()).toBe(live);
      expect(live).toContain('That was all.');
    } finally {
      wire.close();
    }
  });
});

test('the page follows an answer only for someone who reads its end', async ({ page }) => {
  await page.setViewportSize({ width: 700, height: 420 });
  await page.goto('/');
  await ask(page, `Please take your time ${token()}`);
  const gap = () => thread(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await expect.poll(() => thread(page).evaluate((element) => element.scrollHeight - element.clientHeight)).toBeGreaterThan(120);
  expect(await gap()).toBeLessThan(60);
  await thread(page).hover();
  await page.mouse.wheel(0, -400);
  await expect(page.getByRole('button', { name: 'Jump to the latest' })).toBeVisible();
  const top = await thread(page).evaluate((element) => element.scrollTop);
  const length = await answers(page).innerText();
  await expect.poll(async () => (await answers(page).innerText()).length).toBeGreaterThan(length.length + 40);
  expect(await thread(page).evaluate((element) => element.scrollTop)).toBe(top);
  await page.getByRole('button', { name: 'Jump to the latest' }).click();
  await expect.poll(gap).toBeLessThan(60);
});

test('planted HTML and markdown stay words', async ({ page }) => {
  await page.goto('/');
  await ask(page, `attack ${token()}`);
  await answered(page);
  const answer = answers(page);
  await expect(answer.locator('script, img, iframe, style, form, input, svg:not(.lucide)')).toHaveCount(0);
  const links = await answer.locator('a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links).toEqual(['https://example.org/path', 'https://example.net/']);
  await expect(answer).toContainText('a real link (example.org)');
  await expect(answer).toContainText('[picture: a cat]');
  expect(await page.evaluate(() => (window as { __pwned?: unknown }).__pwned)).toBeUndefined();
});

test('Shift and Enter break the line, Enter sends', async ({ page }) => {
  await page.goto('/');
  await box(page).fill('first line');
  await box(page).press('Shift+Enter');
  await box(page).pressSequentially('rainy line');
  await box(page).press('Enter');
  await expect(questions(page).locator('.bubble')).toHaveText('first line\nrainy line', { useInnerText: true });
  await answered(page);
});
