// Several models: which one answers is chosen in the conversation.
import { axe } from './axe';
import { answered, ask, box, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');

const servers = new OwnServers();
test.afterAll(() => servers.stop());

test('a conversation chooses its model, keeps it, and can change it', async ({ page }) => {
  const port = await servers.model('openai', 'small-one');
  const url = await servers.segue({
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    SEGUE_MODEL: 'openai:small-one',
    SEGUE_MODELS: 'Quick=openai:small-one, Thorough=openai:big-one',
  });
  await page.goto(url);
  const picker = (name: string) => page.getByRole('button', { name: `Model: ${name}`, exact: true });
  await expect(picker('Quick')).toBeVisible();
  await picker('Quick').click();
  await expect(page.getByRole('menuitemradio', { name: /Quick/ })).toBeChecked();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('menuitemradio', { name: 'Thorough' }).click();
  await expect(picker('Thorough')).toBeVisible();

  const sent = page.waitForRequest('**/api/chat/stream');
  await ask(page, 'hello');
  expect((await sent).postDataJSON()).toMatchObject({ model: 'Thorough' });
  await answered(page);
  const conversation = `${url}/api/conversations/${page.url().split('/').at(-1)}`;
  const stored = async () => ((await (await page.request.get(conversation)).json()) as { model?: string }).model;
  expect(await stored()).toBe('Thorough');
  await page.reload();
  await expect(picker('Thorough')).toBeVisible();

  // With the keyboard, back to the usual one.
  await picker('Thorough').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(picker('Quick')).toBeFocused();
  await expect.poll(stored).toBe(undefined);
  await page.goto(url);
  await expect(picker('Quick')).toBeVisible();
});

test('with one model there is nothing to choose', async ({ page }) => {
  await page.goto('/');
  await expect(box(page)).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
  await expect(page.locator('.model-line')).toContainText('scripted');
  await expect(page.getByRole('button', { name: /^Model:/ })).toHaveCount(0);
});
