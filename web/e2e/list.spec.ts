// The list of conversations: what is pinned, what runs, what was found, and titles that say something.
import { answered, ask, box, expect, test, token } from './fixtures';

test('a pinned conversation comes first, also after a reload, until it is unpinned', async ({ page }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once ${name} pinned`);
  await answered(page);
  await page.goto('/');
  await ask(page, `at once ${name} newer`);
  await answered(page);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  const entry = list.getByRole('listitem').filter({ hasText: `${name} pinned` });
  const choose = async (item: string) => {
    await entry.hover();
    await entry.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };
  await choose('Pin');
  await expect(list.getByRole('heading').first()).toHaveText('Pinned');
  await page.reload();
  await expect(list.getByRole('heading').first()).toHaveText('Pinned');
  await expect(list.getByRole('listitem').first()).toContainText(`${name} pinned`);
  await choose('Unpin');
  await expect(list.getByRole('heading', { name: 'Pinned' })).toHaveCount(0);
});

test('a search shows the line that has the words', async ({ page }) => {
  const name = token();
  await page.goto('/');
  await ask(page, `at once something about nothing\nand a second line with ${name} in it`);
  await answered(page);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await list.getByRole('searchbox').fill(name);
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await expect(list.getByRole('listitem')).toContainText(`line with ${name} in it`);
  await expect(list.locator('mark')).toHaveText(name);
});

test('what another device asks has a dot, until it is answered', async ({ page, browser, baseURL }) => {
  const name = token();
  const elsewhere = await browser.newContext({ baseURL });
  const other = await elsewhere.newPage();
  await other.goto('/');
  await ask(other, `take your time ${name}`);
  await expect(other.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  await page.goto('/');
  const entry = page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').filter({ hasText: name });
  await expect(entry.getByRole('img', { name: 'Answering' })).toBeVisible();
  await box(other).press('Escape');
  await expect(entry.getByRole('img', { name: 'Answering' })).toHaveCount(0);
  await elsewhere.close();
});

test('a title says what was found, and one of the person stays', async ({ page }) => {
  await page.goto('/');
  await ask(page, `something for tonight ${token()}`);
  await answered(page);
  await expect(page).toHaveTitle(/Rainy nights · \d+ tracks/);
  const id = page.url().split('/').at(-1);
  const origin = new URL(page.url()).origin;
  await page.request.patch(`/api/conversations/${id}`, { data: { title: 'My own words' }, headers: { origin } });
  await ask(page, 'and more like that');
  await answered(page);
  await page.reload();
  await expect(page).toHaveTitle(/My own words/);
});
