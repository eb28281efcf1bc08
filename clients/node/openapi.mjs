// /openapi.json: checked by a linter, converted by a generator, and the generated client checked by the compiler.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { check, url } from './check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const bin = name => join(here, 'node_modules/.bin', name);
const run = (name, ...args) => promisify(execFile)(bin(name), args, { maxBuffer: 1 << 26, cwd: folder }).catch(error => {
  throw new Error(`${error.stdout}${error.stderr}`);
});

/** Code of a front end with the generated types. It compiles only while the types match the server. */
const USE = `
import type { paths } from './api.js';

type Tasks = paths['/api/tasks']['get']['responses']['200']['content']['application/json'];
type Conversation = paths['/api/conversations/{conversation_id}']['get']['responses']['200']['content']['application/json'];
type Ask = paths['/api/chat/stream']['post']['requestBody']['content']['application/json'];
type NewTask = paths['/api/tools/add_task']['post']['requestBody']['content']['application/json'];
type Added = paths['/api/tools/add_task']['post']['responses']['200']['content']['application/json'];

const ask: Ask = { message: 'hello' };
const task: NewTask = { title: 'strings' };
export const titles = (tasks: Tasks): string[] => tasks.tasks.map(task => task.title);
export const words = (conversation: Conversation): number => conversation.messages.length;
export const summary = (added: Added): string => added.summary;
export { ask, task };
// @ts-expect-error a task needs a title
const nothing: NewTask = {};
`;

const folder = await mkdtemp(join(here, '.openapi-'));
await writeFile(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());

await check('openapi: a linter finds nothing wrong', async () => {
  // Another contract defines the path /api/{user_id}/chat; the server resolves it without ambiguity.
  await writeFile(join(folder, 'redocly.yaml'), 'extends: [recommended]\nrules:\n  no-ambiguous-paths: off\n');
  const { stdout, stderr } = await run('redocly', 'lint', 'openapi.json', '--format=stylish');
  assert.match(stdout + stderr, /is valid/);
  assert.doesNotMatch(stdout + stderr, /warning/i);
});

await check('openapi: a generated client compiles and is used', async () => {
  await run('openapi-typescript', 'openapi.json', '-o', 'api.d.ts');
  await writeFile(join(folder, 'use.ts'), USE);
  await run('tsc', '--strict', '--noEmit', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', 'use.ts');
});

await rm(folder, { recursive: true });
