// For everyone: small screens, keyboards, screen readers.
import { answered, answers, ask, box, clearTasks, expect, test, token } from './fixtures';

for (const width of [320, 390, 768, 2560]) {
  test(`nothing overflows at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    const fits = async (where: string) => {
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(overflow, where).toBeLessThanOrEqual(0);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll('main button, main a, main input, main textarea, main h1, header button')]
          .filter((element) => {
            const { right, left, width } = element.getBoundingClientRect();
            return width > 0 && !element.closest('pre, .table-wrap') && (right > window.innerWidth + 1 || left < -1);
          })
          .map((element) => element.outerHTML.slice(0, 90)),
      );
      expect(cut, where).toEqual([]);
    };
    await page.goto('/');
    await expect(page.getByRole('list', { name: 'Examples' })).toBeVisible();
    await fits('welcome');
    await ask(page, 'Is there anything in the Tidal catalogue about night trains?');
    await answered(page);
    await page.locator('.track-head').first().click();
    await fits('chat');
    for (const path of ['/tasks', '/library', '/playlists', '/settings']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await page.waitForLoadState('networkidle');
      await fits(path);
    }
  });
}

test('a task with a long address widens neither an example nor a question to ask next', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await clearTasks(page);
  const origin = new URL(page.url()).origin;
  await page.request.post('/api/tasks', { data: { title: `Read https://example.org/${'a'.repeat(150)}` }, headers: { origin } });
  await page.goto('/?agent=tasks');
  const isInside = async (name: string) => {
    const button = page.getByRole('list', { name }).getByRole('button', { name: /^I have finished “Read/ });
    const box = (await button.boundingBox())!;
    expect(box.x + box.width, name).toBeLessThanOrEqual(390);
  };
  await isInside('Examples');
  await ask(page, `Remind me of the strings ${token()}`);
  await answered(page);
  await isInside('Ask next');
  await clearTasks(page);
});

test('on a phone the history is a drawer', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const mark = token();
  await page.goto('/');
  await ask(page, `Answer at once ${mark}`);
  await answered(page);
  const address = page.url();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('button', { name: 'Open menu' }).click();
  const drawer = page.getByRole('dialog', { name: 'Menu' });
  await drawer.getByRole('button', { name: new RegExp(`More for .*${mark}`) }).click();
  await drawer.getByRole('menuitem', { name: 'Rename' }).click();
  await drawer.getByRole('textbox', { name: 'Conversation title' }).fill(`Wet ${mark}`);
  await page.keyboard.press('Enter');
  await drawer.getByRole('link', { name: `Wet ${mark}` }).click();
  await expect(drawer).toHaveCount(0);
  await expect(page).toHaveURL(address);
  await expect(page.getByRole('banner')).toContainText(`Wet ${mark}`);
  await expect(answers(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.keyboard.press('Escape');
  await expect(drawer).toHaveCount(0);
});

test('a closed dialog gives the focus back', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/library');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Open menu' })).toBeFocused();
  const row = page.locator('.library-row').nth(1);
  await row.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(row).toBeFocused();
});

test('whoever asked for less motion sees none', async ({ page }) => {
  // A message on its way for as long as we look: the page shows that it waits.
  await page.route('**/api/chat/stream', () => {});
  const waiting = async (reducedMotion: 'reduce' | 'no-preference') => {
    await page.emulateMedia({ reducedMotion });
    await page.goto('/');
    await ask(page, 'Songs for a rainy night drive');
    await expect(page.getByRole('img', { name: 'Thinking' })).toBeVisible();
    return page.evaluate(() => document.getAnimations().filter((it) => Number(it.effect?.getComputedTiming().activeDuration) > 10).length);
  };
  expect(await waiting('no-preference')).toBeGreaterThan(0);
  expect(await waiting('reduce')).toBe(0);
});

test('everything is reached by keyboard alone', async ({ page }) => {
  await page.goto('/');
  await expect(box(page)).toBeFocused();
  await page.keyboard.type('Songs for a rainy night drive');
  await page.keyboard.press('Enter');
  await answered(page);
  await expect(box(page)).toBeFocused();

  // Backwards from the message box: the answer's copy button, then the card.
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '');
  const tabTo = async (wanted: RegExp, key: 'Tab' | 'Shift+Tab') => {
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press(key);
      if (wanted.test(await focused())) return;
    }
    throw new Error(`${wanted} was not reached by ${key}; focus is on ${await focused()}`);
  };
  await tabTo(/Searched your library/, 'Shift+Tab');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(outline).toBe('solid');
  const first = page.locator('.track').first();
  await expect(first).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await tabTo(/Interpretation/, 'Tab');
  await page.keyboard.press('Enter');
  await expect(first.locator('.interpretation')).toBeVisible();

  await page.goto('/');
  await expect(box(page)).toBeFocused();
  await tabTo(/More for/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Rename' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect.poll(focused).toMatch(/More for/);
});

test('a screen reader hears finished blocks only', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(() => {
    const heard: string[] = [];
    (window as unknown as { heard: string[] }).heard = heard;
    new MutationObserver(() => {
      const words = document.querySelector('[data-testid="announcer"]')?.textContent;
      if (words && heard.at(-1) !== words) heard.push(words);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await ask(page, 'Songs for a rainy night drive');
  await answered(page);
  const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  expect(heard.length).toBeLessThanOrEqual(4);
  expect(heard.join('\n')).toContain('Let me listen through your library for that.');
  expect(heard.join('\n')).toMatch(/Searched your library for .+ · \d+ found/);
});
