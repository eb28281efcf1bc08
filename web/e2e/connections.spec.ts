// The operator connects a model on the settings page: tested, saved, answering, never shown again, removed.
import { answered, answers, ask, expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

test.skip(!canStart, 'needs the binary');

const servers = new OwnServers();
test.afterAll(() => servers.stop());

test('a model is connected with a key that never comes back', async ({ page }) => {
  const port = await servers.model('ollama', 'small-one');
  const url = await servers.segue({ SEGUE_MODEL_PORTS: 'off', TIDAL_CLIENT_ID: 'set', TIDAL_CLIENT_SECRET: 'set-too' });
  await page.goto(`${url}/settings`);
  const model = page.getByRole('region', { name: 'Model', exact: true });
  await expect(model).toContainText('Not connected');
  await model.getByLabel('Provider').selectOption('openai');
  await model.getByLabel('Server address').fill('http://127.0.0.1:9/v1');
  await model.getByLabel('Key').fill('sk-page-canary');
  await model.getByRole('button', { name: 'Test' }).click();
  await expect(model.getByRole('status')).toContainText('It does not work');

  await model.getByLabel('Server address').fill(`http://127.0.0.1:${port}/v1`);
  await model.getByRole('button', { name: 'Test' }).click();
  await expect(model.getByRole('status')).toContainText('It works');
  await expect(model).toContainText('Not connected');
  await model.getByRole('button', { name: 'Save' }).click();
  await expect(model).toContainText('secret stored');
  await expect(model.getByLabel('Key')).toHaveValue('');
  const told = await page.request.get(`${url}/api/settings/connections`);
  expect(await told.text()).not.toContain('sk-page-canary');

  const catalogue = page.getByRole('region', { name: 'Tidal catalogue' });
  await expect(catalogue).toContainText('TIDAL_CLIENT_ID');
  await expect(catalogue.getByRole('button')).toHaveCount(0);

  await page.goto(url);
  await ask(page, 'hello');
  await answered(page);
  await expect(answers(page)).toHaveCount(1);
  const about = (await (await page.request.get(`${url}/api/about`)).json()) as { model: { id: string } };
  expect(about.model.id).toBe('openai:small-one');

  await page.goto(`${url}/settings`);
  await model.getByRole('button', { name: 'Disconnect' }).click();
  await expect(model).toContainText('Not connected');
});
