// Finding and choosing a model on the page, with doubles of model servers on this machine.
import { ask, answered, answers, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');

const servers = new OwnServers();
test.afterAll(() => servers.stop());

test('a model server of this machine is found, chosen, tried and let go', async ({ page }) => {
  const port = await servers.model('ollama', 'small-one');
  const url = await servers.segue({ SEGUE_MODEL_PORTS: String(port) });
  await page.goto(`${url}/settings`);
  const section = page.locator('.models');
  await expect(section).toContainText('Built-in offline model');
  const found = page.getByRole('region', { name: 'Models of Ollama' });
  await expect(found).toContainText('Not tried yet');

  await found.getByRole('button', { name: 'Use small-one of Ollama' }).click();
  await expect(found).toContainText('Answers');
  await expect(found).toContainText('tokens');
  const about = (await (await page.request.get(`${url}/api/about`)).json()) as { model: { id: string } };
  expect(about.model.id).toBe('openai:small-one');

  await page.goto(url);
  await ask(page, 'hello');
  await answered(page);
  await expect(answers(page)).toHaveCount(1);

  await page.goto(`${url}/settings`);
  await page.getByRole('button', { name: 'Use the built-in model' }).click();
  await expect(section).toContainText('Built-in offline model');
});

test('a model that a setting names cannot be changed on the page', async ({ page }) => {
  await page.goto('/settings');
  await expect(page.locator('.models')).toContainText('A setting wins over a choice on this page');
  await expect(page.locator('.models').getByRole('button')).toHaveCount(0);
});
