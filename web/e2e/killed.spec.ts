// The promise of the README's first page, seen from the page: a killed server finishes the answer after its restart.
import { answered, answers, ask, expect, questions, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');
// The page tells the console that its server is gone.
test.use({ allowedErrors: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/] });

const servers = new OwnServers();
test.afterAll(() => servers.stop());

const FIRST = 'The rain has stopped and the street is quiet, so you may like slow drums, a low voice and one long guitar line.';
const REST = ' (after the restart) here is a record for the walk home.';

test('an answer whose server is killed mid-sentence is finished on the open page', async ({ page }) => {
  const steps = [
    { text: FIRST, paceMs: 150 },
    { text: REST, paceMs: 150 },
  ];
  const model = await servers.model('openai', 'walk', steps);
  const settings = { SEGUE_MODEL: 'openai:walk', OPENAI_BASE_URL: `http://127.0.0.1:${model}/v1`, OPENAI_API_KEY: 'walk' };
  const url = await servers.segue(settings);
  await page.goto(`${url}/?agent=tasks`);
  await ask(page, 'something for the walk home');
  // The first line: the rest of an answer is its time and its buttons.
  const shown = async () => (await answers(page).innerText()).replace(/\n[^]*/, '').trim();
  await expect(answers(page)).toContainText('street is quiet');
  await servers.killSegue();
  const seen = await shown();
  await servers.segue(settings, Number(new URL(url).port));
  await expect(answers(page)).toContainText('here is a record for the walk home.', { timeout: 20_000 });
  await answered(page);
  const said = await shown();
  expect(said.startsWith(seen), 'what was shown stays').toBe(true);
  expect(said.match(/The rain/g), 'nothing is said twice').toHaveLength(1);
  await expect(questions(page)).toHaveCount(1);
  await page.reload();
  await expect(answers(page)).toContainText(said);
});
