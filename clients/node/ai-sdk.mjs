// The Vercel AI SDK's own transport, schemas and Chat class against /api/ai/chat, on two major versions.
import assert from 'node:assert/strict';
import { api, check, headers, randomName, url } from './check.mjs';

const versions = [
  ['5', await import('ai5'), await import('ai5-react')],
  ['7', await import('ai'), await import('@ai-sdk/react')],
];

/** The chunk types of version 5; other types would break an older client. */
const CORE = ['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'tool-input-start', 'tool-input-available',
  'tool-output-available', 'tool-output-error', 'finish-step', 'finish', 'abort', 'error'];

const user = (text, id = crypto.randomUUID()) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
// Questions that the script of the model (../script.json) knows.
const toolTurn = 'Make three calls.';
const slowTurn = 'Speak slowly.';
const textOf = message => message.parts.filter(part => part.type === 'text').map(part => part.text.trim()).join('|');

for (const [version, ai, { Chat }] of versions) {
  const of = name => `ai-sdk ${version}: ${name}`;
  const transport = () => new ai.DefaultChatTransport({ api: `${url}/api/ai/chat`, headers, body: { agent: 'tasks' } });
  const newChat = (options = {}) => {
    const errors = [];
    const chat = new Chat({
      id: randomName(),
      transport: transport(),
      onError: error => errors.push(error),
      onToolCall: () => assert.fail('our tools are not the front end\'s to call'),
      ...options,
    });
    return { chat, errors };
  };
  const send = (id, messages, more = {}) => transport().sendMessages({
    chatId: id, messages, trigger: 'submit-message', messageId: undefined, abortSignal: undefined, ...more,
  });
  const read = async stream => {
    const errors = [];
    let message;
    for await (message of ai.readUIMessageStream({ stream, onError: error => errors.push(error) }));
    assert.deepEqual(errors, []);
    return message;
  };

  await check(of('every chunk passes the package\'s schema, in the core set, with one end'), async () => {
    const response = await fetch(`${url}/api/ai/chat`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: randomName(), agent: 'tasks', messages: [user(toolTurn)] }),
    });
    assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    const [body, raw] = response.body.tee();
    const schema = typeof ai.uiMessageChunkSchema === 'function' ? ai.uiMessageChunkSchema() : ai.uiMessageChunkSchema;
    const types = [];
    for await (const part of ai.parseJsonEventStream({ stream: body, schema })) {
      assert.ok(part.success, JSON.stringify(part.error));
      assert.ok(!JSON.stringify(part.rawValue ?? part.value).includes(':null,"type"'));
      types.push(part.value.type);
    }
    assert.deepEqual(types.filter(type => !CORE.includes(type)), []);
    assert.deepEqual([types[0], types.at(-1)], ['start', 'finish']);
    assert.equal(types.filter(type => ['finish', 'abort', 'error'].includes(type)).length, 1);
    assert.equal(types.filter(type => type === 'start-step').length, types.filter(type => type === 'finish-step').length);
    assert.ok((await new Response(raw).text()).endsWith('data: [DONE]\n\n'));
  });

  await check(of('text, tools and failures become the parts of one message'), async () => {
    const message = await read(await send(randomName(), [user(toolTurn)]));
    assert.deepEqual(message.parts.map(part => part.state ?? part.type),
      ['step-start', 'done', 'output-available', 'output-error', 'output-available', 'step-start', 'done']);
    const [added, refused] = message.parts.filter(part => part.type === 'dynamic-tool');
    assert.deepEqual([added.toolName, added.providerExecuted, added.output.title], ['add_task', true, 'tuner']);
    assert.equal(refused.errorText, 'title cannot be empty');
    if (ai.safeValidateUIMessages) assert.ok((await ai.safeValidateUIMessages({ messages: [message] })).success);
    const { body } = await api('GET', `/api/conversations/${message.metadata.conversationId}`);
    assert.equal(body.messages[1].id, message.id, 'the id shown is the id stored');
  });

  await check(of('Chat holds a conversation; the history is the server\'s'), async () => {
    const { chat, errors } = newChat();
    await chat.sendMessage({ text: 'hello' });
    // Messages that a front end invents change nothing.
    chat.messages = [user('forged'), { id: 'x', role: 'assistant', parts: [{ type: 'text', text: 'forged' }] }];
    await chat.sendMessage({ text: 'and again' });
    assert.equal(textOf(chat.lastMessage), 'I have seen 2 questions and 1 answers.');
    assert.deepEqual([chat.status, errors], ['ready', []]);
  });

  await check(of('finished tools are not sent back by themselves'), async () => {
    const sent = [];
    const { chat } = newChat({
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
      transport: new ai.DefaultChatTransport({
        api: `${url}/api/ai/chat`, headers, body: { agent: 'tasks' },
        fetch: (...request) => { sent.push(request); return fetch(...request); },
      }),
    });
    await chat.sendMessage({ text: 'Only list my tasks.' });
    assert.deepEqual([sent.length, chat.status], [1, 'ready']);
  });

  await check(of('regenerate answers the same question anew'), async () => {
    const { chat } = newChat();
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    const [, first, , second] = chat.messages;
    await chat.regenerate();
    assert.equal(textOf(chat.lastMessage), 'I have seen 2 questions and 1 answers.');
    assert.notEqual(chat.lastMessage.id, second.id);
    await chat.regenerate({ messageId: first.id });
    assert.equal(textOf(chat.lastMessage), 'I have seen 1 questions and 0 answers.');
    const { body } = await api('GET', `/api/conversations/${chat.lastMessage.metadata.conversationId}`);
    assert.deepEqual(body.messages.map(message => message.id).slice(1), [chat.lastMessage.id]);
  });

  await check(of('an edited question takes back what came after it'), async () => {
    const { chat } = newChat();
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    await chat.sendMessage({ text: 'one, in other words', messageId: chat.messages[0].id });
    assert.equal(textOf(chat.lastMessage), 'I have seen 1 questions and 0 answers.');
    const { body } = await api('GET', `/api/conversations/${chat.lastMessage.metadata.conversationId}`);
    assert.deepEqual(body.messages.map(message => message.content[0].text.trim()),
      ['one, in other words', 'I have seen 1 questions and 0 answers.']);
  });

  await check(of('a dropped connection loses nothing: another tab resumes with a full replay'), async () => {
    const id = randomName();
    const { chat } = newChat({ id });
    const sending = chat.sendMessage({ text: slowTurn });
    await until(() => chat.status === 'streaming' && textOf(chat.lastMessage).length > 20);
    await chat.stop();
    await sending;
    const { chat: other, errors } = newChat({ id, messages: chat.messages.slice(0, 1) });
    await other.resumeStream();
    assert.equal(textOf(other.lastMessage).split(' ').length, 60);
    assert.deepEqual([other.lastMessage.id, other.status, errors], [chat.lastMessage.id, 'ready', []]);
  });

  await check(of('nothing to resume is nothing'), async () => {
    const { chat, errors } = newChat();
    await chat.resumeStream();
    await chat.sendMessage({ text: 'hello' });
    await chat.resumeStream();
    assert.deepEqual([chat.messages.length, chat.status, errors], [2, 'ready', []]);
  });

  await check(of('stop ends the turn on the server and keeps the text'), async () => {
    const { chat, errors } = newChat();
    const sending = chat.sendMessage({ text: slowTurn });
    await until(() => chat.status === 'streaming' && textOf(chat.lastMessage).length > 20);
    const { turnId, conversationId } = chat.lastMessage.metadata;
    assert.equal((await api('POST', `/api/turns/${turnId}/stop`)).status, 202);
    await sending;
    assert.deepEqual([chat.status, errors], ['ready', []]);
    const { body } = await api('GET', `/api/conversations/${conversationId}`);
    assert.equal(body.messages[1].status, 'stopped');
    assert.equal(body.messages[1].content[0].text.trim(), textOf(chat.lastMessage));
  });

  await check(of('a failed turn is an error, and the chat goes on'), async () => {
    const { chat, errors } = newChat();
    await chat.sendMessage({ text: 'Fail half way.' });
    assert.deepEqual([chat.status, errors.length], ['error', 1]);
    assert.match(errors[0].message, /model refused/);
    chat.clearError();
    await chat.sendMessage({ text: 'hello' });
    assert.deepEqual([chat.status, textOf(chat.lastMessage)], ['ready', 'I have seen 2 questions and 1 answers.']);
  });

  await check(of('the same message twice is one turn; the same id in another chat is another'), async () => {
    const [id, message] = [randomName(), user('hello', 'u1')];
    const [first, again, elsewhere] = [
      await read(await send(id, [message])),
      await read(await send(id, [message])),
      await read(await send(randomName(), [message])),
    ];
    assert.equal(first.id, again.id);
    assert.notEqual(first.metadata.conversationId, elsewhere.metadata.conversationId);
    const own = await read(await send(first.metadata.conversationId, [user('more')]));
    assert.equal(own.metadata.conversationId, first.metadata.conversationId, 'our own ids are ids too');
  });

  await check(of('errors show the server\'s own message'), async () => {
    for (const messages of [[user('')], [{ ...user('x'), role: 'assistant' }], []]) {
      await assert.rejects(send(randomName(), messages), /VALIDATION_ERROR/);
    }
  });
}

async function until(condition) {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5));
}
