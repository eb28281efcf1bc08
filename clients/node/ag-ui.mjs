// @ag-ui/client's HttpAgent, with its verification on, against /ag-ui.
import assert from 'node:assert/strict';
import { HttpAgent } from '@ag-ui/client';
import { api, check, headers, randomName, url } from './check.mjs';

const of = name => `ag-ui: ${name}`;
const user = (content, id = crypto.randomUUID()) => ({ id, role: 'user', content });

async function run(agent) {
  const events = [];
  const failures = [];
  await agent.runAgent({}, {
    onEvent: ({ event }) => { events.push(event); },
    onRunErrorEvent: ({ event }) => { failures.push(event); },
  });
  return { events, failures, types: events.map(event => event.type) };
}

const newAgent = (threadId = randomName()) => new HttpAgent({ url: `${url}/ag-ui?agent=tasks`, headers, threadId });

await check(of('text, tools and steps pass the verification'), async () => {
  const agent = newAgent();
  agent.addMessage(user('Make two calls.'));
  const { types, events } = await run(agent);
  assert.deepEqual([types[0], types.at(-1)], ['RUN_STARTED', 'RUN_FINISHED']);
  assert.equal(types.filter(type => type === 'STEP_STARTED').length, 2);
  assert.deepEqual(agent.messages.filter(message => message.content).map(message => message.role),
    ['user', 'assistant', 'tool', 'tool', 'assistant']);
  const results = agent.messages.filter(message => message.role === 'tool').map(message => message.content);
  assert.equal(JSON.parse(results[0]).title, 'reeds');
  assert.equal(results[1], 'title cannot be empty');
  assert.equal(events.at(-1).outcome.type, 'success');
  const { inputTokens, outputTokens } = events.at(-1).usage[0];
  assert.ok(inputTokens > outputTokens && outputTokens > 0, JSON.stringify(events.at(-1).usage));
});

await check(of('a thread is a conversation; its history is the server\'s'), async () => {
  const agent = newAgent();
  agent.addMessage(user('one'));
  await run(agent);
  agent.setMessages([user('two')]);
  await run(agent);
  assert.equal(agent.messages.at(-1).content.trim(), 'I have seen 2 questions and 1 answers.');
});

await check(of('running again without a new message answers anew'), async () => {
  const agent = newAgent();
  agent.addMessage(user('one'));
  const first = await run(agent);
  agent.setMessages(agent.messages.slice(0, 1));
  const { events } = await run(agent);
  assert.notEqual(events[0].metadata.turnId, first.events[0].metadata.turnId);
  assert.equal(agent.messages.at(-1).content.trim(), 'I have seen 1 questions and 0 answers.');
  const { conversationId } = events[0].metadata;
  assert.equal((await api('GET', `/api/conversations/${conversationId}`)).body.messages.length, 2);
});

await check(of('a failed turn is RUN_ERROR'), async () => {
  const agent = newAgent();
  agent.addMessage(user('Fail half way.'));
  const { failures, types } = await run(agent).catch(error => ({ failures: [error], types: ['RUN_ERROR'] }));
  assert.equal(types.at(-1), 'RUN_ERROR');
  assert.match(failures[0].message, /model refused/);
});

await check(of('a stopped turn ends as cancelled, with nothing left open'), async () => {
  const agent = newAgent();
  agent.addMessage(user('Speak slowly.'));
  const events = [];
  let stopped;
  await agent.runAgent({}, {
    onEvent: ({ event }) => {
      events.push(event);
      if (event.type === 'TEXT_MESSAGE_CONTENT') stopped ??= api('POST', `/api/turns/${events[0].metadata.turnId}/stop`);
    },
  });
  assert.equal((await stopped).status, 202);
  assert.deepEqual([events.at(-1).type, events.at(-1).outcome.type], ['RUN_FINISHED', 'cancelled']);
});
