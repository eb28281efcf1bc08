// The official TypeScript MCP client against /mcp, the conformance suites of both eras, and the inspector's CLI.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, headers, url } from './check.mjs';

const mcp = `${url}/mcp`;

await check('mcp typescript: every tool is listed and called', async () => {
  const client = new Client({ name: 'check', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  assert.ok(tools.length >= 5);
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result.content));
    return result.structuredContent;
  };
  const task = await call('add_task', { title: 'from TypeScript' });
  assert.ok((await call('list_tasks', {})).tasks.some(({ id }) => id === task.id));
  await call('update_task', { task_id: task.id, description: 'changed' });
  await call('complete_task', { task_id: task.id });
  await call('delete_task', { task_id: task.id });
  // The client validates what a tool says against its outputSchema; here it has something to say.
  const { tracks } = await call('semanticSearch', { query: 'rain' });
  assert.ok(tracks.length > 0 && tracks.every(({ isIndexed }) => isIndexed));
  const isrcs = tracks.slice(0, 3).map(({ isrc }) => isrc);
  assert.deepEqual((await call('batchMetadata', { isrcs })).found, isrcs);
  const playlist = await call('suggestPlaylist', { title: 'Rain', tracks: isrcs.map(isrc => ({ isrc, reasoning: 'rain' })) });
  assert.deepEqual(playlist.tracks.map(({ isrc }) => isrc), isrcs);
  const found = await call('tidalSearch', { query: 'Ivy Marlow', searchType: 'both' });
  assert.ok(found.tracks.length > 0 && found.albums.length > 0);
  assert.ok((await call('albumTracks', { albumId: found.albums[0].id })).tracks.length > 0);
  const listed = await call('list_playlists', {});
  assert.ok(listed.playlists.length > 0);
  await call('edit_playlist', { playlist: 'Rain', action: 'rename', title: 'Rain again' });
  const refused = await client.callTool({ name: 'add_task', arguments: { title: '' } });
  assert.deepEqual([refused.isError, refused.content[0].text], [true, 'title cannot be empty']);
  await assert.rejects(client.callTool({ name: 'play_song', arguments: {} }), { code: -32602 });
  await client.close();
});

const run = promisify(execFile);
const home = name => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
const tool = (file, ...args) => run(process.execPath, [file, ...args], { maxBuffer: 1 << 26, env: { ...process.env, NO_COLOR: '1' } });

/** The scenarios that need none of the suite's own tools, prompts or resources. */
const GENERIC = [
  ['@modelcontextprotocol/conformance', ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'], []],
  ['conformance-2026', ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-session-lifecycle'], []],
  ['conformance-2026', ['server-stateless', 'caching', 'http-header-validation', 'tools-list', 'dns-rebinding-protection'],
    ['--spec-version', '2026-07-28']],
];

/** Checks in those scenarios that call the suite's own tools by name, or require prompts and resources, which Segue does not have. */
const NOT_FOR_US = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
];

if (!headers.authorization) {
  for (const [suite, scenarios, options] of GENERIC) {
    for (const scenario of scenarios) {
      const era = options[1] ?? 'handshake';
      await check(`mcp conformance ${suite} ${era}: ${scenario}`, async () => {
        const file = join(home(suite), 'dist/index.js');
        const done = await tool(file, 'server', '--url', mcp, '--scenario', scenario, ...options).catch(error => error);
        const output = stripVTControlCharacters(`${done.stdout}${done.stderr}`);
        const failed = [...output.matchAll(/\[([\w-]+) *\] FAILURE/g)].map(([, id]) => id);
        assert.deepEqual(failed.filter(id => !NOT_FOR_US.includes(id)), [], output.slice(-1000));
        assert.ok(!done.code || failed.length, output.slice(-1400));
      });
    }
  }
}

await check('mcp inspector: lists and calls from the command line', async () => {
  const file = join(home('@modelcontextprotocol/inspector'), 'clients/launcher/build/index.js');
  const more = headers.authorization ? ['--header', `Authorization: ${headers.authorization}`] : [];
  const inspect = async (...args) => JSON.parse((await tool(file, '--cli', mcp, '--transport', 'http', ...more, ...args)).stdout);
  const { tools } = await inspect('--method', 'tools/list');
  assert.ok(tools.some(({ name }) => name === 'add_task'));
  const called = await inspect('--method', 'tools/call', '--tool-name', 'add_task', '--tool-arg', 'title=from the inspector');
  assert.equal(called.structuredContent.title, 'from the inspector');
});
