// What a search understood as a limit is shown, and can be taken out.
import { axe } from './axe';
import { answered, answers, ask, expect, questions, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');

const servers = new OwnServers();
test.afterAll(() => servers.stop());
let started: Promise<string> | undefined;
const own = () => (started ??= start());

/** With the sample in its index: the first search loads the embedder. */
async function start(): Promise<string> {
  const url = await servers.segue({ SEGUE_MODEL: 'offline' });
  await expect.poll(async () => (await fetch(`${url}/api/search?q=calm`)).status, { timeout: 30_000 }).toBe(200);
  return url;
}

test('a limit of an answer is a chip, and removing it asks again without it', async ({ page }) => {
  await page.goto(await own());
  await ask(page, 'calm songs from the 90s without drums');
  await answered(page);
  const limits = answers(page).last().getByRole('list', { name: 'Limits of this search' });
  await expect(limits.getByRole('listitem')).toHaveText(['1990–1999', 'without drums']);
  expect(await axe(page)).toEqual([]);
  await limits.getByRole('button', { name: 'Search again without the limit 1990–1999' }).click();
  // The new answer takes the place of the old one, which is one press away.
  await expect(questions(page)).toHaveText(/^calm songs without drums/);
  await answered(page);
  await expect(limits.getByRole('listitem')).toHaveText(['without drums']);
  await page.getByRole('button', { name: 'Earlier version of this question' }).click();
  await expect(limits.getByRole('listitem')).toHaveText(['1990–1999', 'without drums']);
  // Under an earlier answer they are only told: removing one there would hide what was said since.
  await ask(page, 'tell me about the first one');
  await answered(page);
  await expect(answers(page)).toHaveCount(2);
  await expect(answers(page).first().getByRole('list', { name: 'Limits of this search' }).getByRole('listitem')).toHaveCount(2);
  await expect(
    answers(page)
      .first()
      .getByRole('button', { name: /^Search again without/ }),
  ).toHaveCount(0);
});

const COUNTED = /^(?:\d+ found|The best \d+ of \d+\.)$/;

test('in the library a limit is taken out of the words in place', async ({ page }) => {
  await page.goto(`${await own()}/library?view=meaning&q=calm+songs+from+the+90s`);
  const limits = page.getByRole('list', { name: 'Limits of this search' });
  await expect(limits.getByRole('listitem')).toHaveText(['1990–1999']);
  const found = await page.getByRole('status').filter({ hasText: COUNTED }).innerText();
  await limits.getByRole('button').click();
  await expect(page.getByRole('searchbox', { name: 'Find in your library' })).toHaveValue('calm songs');
  await expect(limits).toHaveCount(0);
  await expect(page.getByRole('status').filter({ hasText: COUNTED })).not.toHaveText(found);
});
