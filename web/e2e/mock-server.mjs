// A stand-in for the Segue binary: the built page, the endpoints it uses, and turns played from `scenarios.mjs`.
//
//   node e2e/mock-server.mjs [port]
//
// Turns belong to the server, as in the real one: they go on without readers and can be followed from any point.
import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALBUMS, search, TRACKS } from './music.mjs';
import { scenarioFor, speak } from './scenarios.mjs';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const PORT = Number(process.argv[2] ?? 8091);
const FEATURES = (process.env.MOCK_FEATURES ?? 'catalogue').split(',').filter(Boolean);
const MAX_STEPS = 5;
const ACCOUNTS = process.env.MOCK_AUTH === 'accounts';

const conversations = new Map();
const turns = new Map();
const byClientId = new Map();
const tasks = new Map();
const deletedTasks = new Map();
const deletedConversations = new Map();
const deletedTracks = new Map();
const playlists = new Map();
const deletedPlaylists = new Map();
const library = new Map(
  TRACKS.filter((t) => t.inLibrary).map((t, i) => [t.isrc, { ...t, addedAt: new Date(Date.UTC(2026, 9, 28 - i)).toISOString() }]),
);
const broken = new Map();
let signedIn = !ACCOUNTS;

const now = () => new Date().toISOString();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- turns -----------------------------------------------------------------------------------------------------

function startTurn(conversation, message) {
  const turn = { id: randomUUID(), conversationId: conversation.id, events: [], readers: new Set(), ended: false, stopped: false };
  const answer = { id: randomUUID(), role: 'assistant', content: [], status: 'running', createdAt: now(), turnId: turn.id };
  conversation.messages.push(
    { id: randomUUID(), role: 'user', content: [{ type: 'text', text: message }], status: 'complete', createdAt: now() },
    answer,
  );
  conversation.updatedAt = now();
  conversation.preview = message.slice(0, 80);
  conversation.running = turn.id;
  turns.set(turn.id, turn);
  void play(turn, answer, conversation, scenarioFor(message), message);
  return turn;
}

function emit(turn, event) {
  const numbered = { ...event, seq: turn.events.length + 1 };
  turn.events.push(numbered);
  for (const reader of turn.readers) reader(numbered);
}

async function play(turn, answer, conversation, scenario, message) {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const finish = (status, event) => {
    answer.status = status;
    conversation.running = null;
    turn.ended = true;
    emit(turn, event);
  };
  const stop = () => {
    answer.usage = usage;
    finish('stopped', { type: 'message_end', usage, stopReason: 'stopped' });
  };
  emit(turn, { type: 'message_start', messageId: answer.id, conversationId: conversation.id, turnId: turn.id });
  await sleep(40);
  const timesBroken = broken.get(message) ?? 0;
  if ((scenario.breaks ?? 0) > timesBroken) {
    broken.set(message, timesBroken + 1);
    say(turn, answer, 'I was about to tell you ');
    const error = { code: 'AI_SERVICE_UNAVAILABLE', message: 'The model stopped answering. Your message is kept.', retryable: true };
    answer.error = error;
    return finish('error', { type: 'error', ...error });
  }
  for (const round of scenario.rounds.slice(0, MAX_STEPS)) {
    usage.inputTokens += 412;
    const finished = await speak(round.text ?? '', round.paceMs ?? 18, (piece) => {
      if (turn.stopped) return false;
      say(turn, answer, piece);
      usage.outputTokens += 1;
    });
    if (!finished) return stop();
    for (const call of callsOf(round)) {
      if (turn.stopped) return stop();
      await useTool(turn, answer, call, conversation);
    }
  }
  answer.usage = usage;
  const how = scenario.rounds.length > MAX_STEPS ? 'max_steps' : 'complete';
  finish(how, { type: 'message_end', usage, stopReason: how });
}

function say(turn, answer, text) {
  const last = answer.content.at(-1);
  if (last?.type === 'text') last.text += text;
  else answer.content.push({ type: 'text', text });
  emit(turn, { type: 'text_delta', content: text });
}

function callsOf(round) {
  if (round.playlistFrom) {
    const tracks = search(round.playlistFrom, 5).map((t) => ({
      isrc: t.isrc,
      reasoning: `${t.shortDescription.split('.')[0]}: it keeps the light low.`,
    }));
    return [{ name: 'suggestPlaylist', input: { title: round.title, tracks } }];
  }
  if (round.withFirst) {
    const first = [...tasks.values()].find((task) => !task.completed) ?? { id: randomUUID() };
    return [{ name: round.withFirst, input: { task_id: first.id } }];
  }
  return round.calls ?? [];
}

async function useTool(turn, answer, { name, input }, conversation) {
  const id = `call_${randomUUID().slice(0, 8)}`;
  answer.content.push({ type: 'tool_use', id, name, input });
  emit(turn, { type: 'tool_call_start', toolCallId: id, toolName: name, input });
  const began = Date.now();
  await sleep(conversation.agent === 'tasks' ? 90 : 320);
  const outcome = runTool(name, input);
  const durationMs = Date.now() - began;
  if (outcome.error) {
    const failure = { error: outcome.error, retryable: outcome.retryable ?? false, wasRetried: outcome.wasRetried ?? false, durationMs };
    answer.content.push({ type: 'tool_result', tool_use_id: id, content: failure, is_error: true });
    return emit(turn, { type: 'tool_call_error', toolCallId: id, ...failure });
  }
  const output = { ...outcome, durationMs };
  answer.content.push({ type: 'tool_result', tool_use_id: id, content: output });
  const resultCount = (outcome.tracks ?? outcome.tasks ?? [1]).length;
  emit(turn, {
    type: 'tool_call_end',
    toolCallId: id,
    summary: outcome.summary,
    resultCount,
    durationMs,
    ...(resultCount > 0 && { output }),
  });
}

function runTool(name, input) {
  if (name === 'semanticSearch') {
    const tracks = search(input.query, input.limit ?? 8);
    return { tracks, query: input.query, totalFound: tracks.length, summary: `Found ${tracks.length} tracks matching '${input.query}'` };
  }
  if (name === 'tidalSearch') {
    if (FEATURES.includes('catalogue') && input.query !== 'night trains') {
      const found = TRACKS.filter((t) => !library.has(t.isrc)).map((t) => ({ ...t, inLibrary: false, isIndexed: false }));
      return {
        tracks: found,
        albums: [],
        query: input.query,
        totalFound: { tracks: found.length, albums: 0 },
        summary: `Found ${found.length} tracks for '${input.query}'`,
      };
    }
    return {
      error: 'Tidal service is temporarily unavailable. Try searching your indexed collection instead.',
      retryable: true,
      wasRetried: true,
    };
  }
  if (name === 'suggestPlaylist') {
    const id = randomUUID();
    const tracks = input.tracks.map((t) => ({
      ...listed(TRACKS.find((known) => known.isrc === t.isrc)),
      itemId: randomUUID(),
      hasFile: false,
      reasoning: t.reasoning,
    }));
    playlists.set(id, { id, title: input.title, description: '', revision: 1, createdAt: now(), updatedAt: now(), tracks });
    return {
      id,
      title: input.title,
      createdAt: now(),
      tracks,
      unknown: [],
      summary: `Saved '${input.title}' with ${tracks.length} tracks`,
    };
  }
  if (name === 'add_task') {
    const task = {
      id: randomUUID(),
      title: input.title,
      description: input.description ?? '',
      completed: false,
      createdAt: now(),
      updatedAt: now(),
    };
    tasks.set(task.id, task);
    return { ...task, summary: `Added '${task.title}'` };
  }
  if (name === 'list_tasks') {
    const listed = [...tasks.values()].filter(
      (t) => input.filter === undefined || input.filter === 'all' || t.completed === (input.filter === 'completed'),
    );
    return { tasks: listed.map((t) => ({ ...t })), summary: `${listed.length} tasks` };
  }
  const task = tasks.get(input.task_id);
  if (!task) return { error: 'There is no such task' };
  if (name === 'delete_task') {
    move(tasks, deletedTasks, task.id);
    return { task_id: task.id, title: task.title, message: `Deleted '${task.title}'`, summary: `Deleted '${task.title}'` };
  }
  if (name === 'complete_task') Object.assign(task, { completed: true, updatedAt: now() });
  return { ...task, summary: `Completed '${task.title}'` };
}

// ---- HTTP ------------------------------------------------------------------------------------------------------

function stream(req, res, turn, after, withIds) {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  const write = (event) => {
    if (event.seq > after) res.write(`${withIds ? `id: ${event.seq}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    if (event.type === 'message_end' || event.type === 'error') res.end();
  };
  for (const event of turn.events) write(event);
  if (turn.ended) return res.end();
  turn.readers.add(write);
  req.on('close', () => turn.readers.delete(write));
}

/** Lists carry the names and flags; the rest is in the details. */
const listed = ({ lyrics: _l, interpretation: _i, audioFeatures: _a, shortDescription: _s, tags: _t, ...track }) => track;

const summaryOf = ({ messages: _messages, running: _running, ...summary }) => summary;

const routes = [
  ['GET', '/api/about', () => [200, about()]],
  ['GET', '/api/me', () => [200, { id: 'local', name: ACCOUNTS ? 'ann' : 'You', mode: ACCOUNTS ? 'accounts' : 'local' }]],
  [
    'POST',
    '/api/auth/sign-in',
    ({ body }) => {
      if (body.password !== 'opensesame') return fail(401, 'UNAUTHORIZED', 'Name or password is wrong.');
      signedIn = true;
      return [200, { id: body.name, name: body.name, mode: 'accounts' }];
    },
  ],
  ['POST', '/api/auth/sign-out', () => ((signedIn = false), [204])],
  [
    'GET',
    '/api/conversations',
    ({ query }) => {
      const q = (query.get('q') ?? '').toLowerCase();
      const found = [...conversations.values()]
        .filter((c) => c.title.toLowerCase().includes(q))
        .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
      return [200, { conversations: found.map(summaryOf) }];
    },
  ],
  [
    'GET',
    '/api/conversations/:id',
    ({ id }) => {
      const found = conversations.get(id);
      return found ? [200, { ...summaryOf(found), messages: found.messages }] : notFound();
    },
  ],
  [
    'PATCH',
    '/api/conversations/:id',
    ({ id, body }) => {
      const found = conversations.get(id);
      if (!found) return notFound();
      found.title = body.title;
      return [200, summaryOf(found)];
    },
  ],
  [
    'DELETE',
    '/api/conversations/:id',
    ({ id }) => {
      if (conversations.get(id)?.running) return fail(409, 'TURN_RUNNING', 'Stop the running turn first.');
      return move(conversations, deletedConversations, id);
    },
  ],
  ['POST', '/api/conversations/:id/restore', ({ id }) => move(deletedConversations, conversations, id)],
  [
    'POST',
    '/api/turns/:id/stop',
    ({ id }) => {
      const turn = turns.get(id);
      if (!turn) return notFound();
      turn.stopped = true;
      return [202];
    },
  ],
  ['GET', '/api/tasks', () => [200, { tasks: [...tasks.values()] }]],
  ['POST', '/api/tasks', ({ body }) => [201, runTool('add_task', body)]],
  [
    'PATCH',
    '/api/tasks/:id',
    ({ id, body }) => {
      const task = tasks.get(id);
      return task ? [200, Object.assign(task, body, { updatedAt: now() })] : notFound();
    },
  ],
  ['DELETE', '/api/tasks/:id', ({ id }) => move(tasks, deletedTasks, id)],
  ['POST', '/api/tasks/:id/restore', ({ id }) => move(deletedTasks, tasks, id)],
  [
    'GET',
    '/api/library/tracks',
    ({ query }) => {
      const q = (query.get('q') ?? '').toLowerCase();
      const sort = query.get('sort') ?? 'added';
      const found = [...library.values()].filter((t) => `${t.title} ${t.artist} ${t.album}`.toLowerCase().includes(q));
      found.sort((a, b) => (sort === 'added' ? b.addedAt.localeCompare(a.addedAt) : String(a[sort]).localeCompare(String(b[sort]))));
      return [200, { tracks: found.map(listed), total: found.length }];
    },
  ],
  [
    'POST',
    '/api/library/tracks',
    ({ body }) => {
      const track = TRACKS.find((t) => t.isrc === body.isrc);
      if (!track) return notFound();
      library.set(track.isrc, { ...track, inLibrary: true, addedAt: now() });
      return [201, library.get(track.isrc)];
    },
  ],
  [
    'GET',
    '/api/library/tracks/:id',
    ({ id }) => {
      const found = library.get(id) ?? TRACKS.find((t) => t.isrc === id);
      return found ? [200, found] : notFound();
    },
  ],
  ['DELETE', '/api/library/tracks/:id', ({ id }) => move(library, deletedTracks, id)],
  ['POST', '/api/library/tracks/:id/restore', ({ id }) => move(deletedTracks, library, id)],
  [
    'GET',
    '/api/library/albums',
    ({ query }) => {
      const q = (query.get('q') ?? '').toLowerCase();
      const found = ALBUMS.filter((a) => `${a.title} ${a.artist}`.toLowerCase().includes(q));
      return [200, { albums: found }];
    },
  ],
  [
    'GET',
    '/api/library/albums/:id',
    ({ id }) => {
      const album = ALBUMS.find((a) => a.id === id);
      return album ? [200, { ...album, tracks: TRACKS.filter((t) => t.album === album.title) }] : notFound();
    },
  ],
  ['GET', '/api/search', ({ query }) => [200, { ...runTool('semanticSearch', { query: query.get('q'), limit: 12 }), durationMs: 12 }]],
  ['POST', '/api/tools/:id', ({ id, body }) => [200, { ...runTool(id, body), durationMs: 20 }]],
  ['GET', '/api/index', () => [200, { tracks: TRACKS.length, embedder: 'built-in', pending: 0, failed: 0 }]],
  [
    'GET',
    '/api/playlists',
    () => [200, { playlists: [...playlists.values()].map(({ tracks, ...p }) => ({ ...p, trackCount: tracks.length })) }],
  ],
  [
    'GET',
    '/api/playlists/:id',
    ({ id, query }) => {
      const playlist = playlists.get(id);
      if (!playlist) return notFound();
      const titles = playlist.tracks.map((t) => t.title).join('\n');
      return query.has('format') ? [200, `${query.get('format')} of ${playlist.title}\n${titles}`] : [200, playlist];
    },
  ],
  ['DELETE', '/api/playlists/:id', ({ id }) => move(playlists, deletedPlaylists, id)],
  ['POST', '/api/playlists/:id/restore', ({ id }) => move(deletedPlaylists, playlists, id)],
  ['GET', '/api/export', () => [200, { conversations: [...conversations.values()], tasks: [...tasks.values()] }]],
];

function about() {
  return {
    version: '0.1.0',
    mode: ACCOUNTS ? 'accounts' : 'local',
    model: { id: 'offline', offline: true, hint: 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY and restart to talk to a real model.' },
    agents: [
      {
        id: 'discover',
        title: 'Discover',
        description: 'Ask for a mood, a story or half a line you remember; watch it search your music and tell you why.',
        examples: [
          'Songs for a rainy night drive',
          'Something calm to read to',
          'Heartbreak, but hopeful',
          'Make a playlist for a quiet evening',
        ],
      },
      {
        id: 'tasks',
        title: 'Tasks',
        description: 'Say what is on your mind. It becomes a list, and stays one.',
        examples: ['Remind me to buy guitar strings and call the venue', 'What is still open?', 'I am done with the first one'],
      },
    ],
    tidal: FEATURES.includes('catalogue'),
    index: { tracks: TRACKS.length, embedder: 'built-in' },
    features: FEATURES,
  };
}

function fail(status, code, message) {
  return [status, { error: { code, message } }];
}

function notFound() {
  return fail(404, 'NOT_FOUND', 'There is nothing here.');
}

function move(from, to, id) {
  const item = from.get(id);
  if (!item) return notFound();
  from.delete(id);
  to.set(id, item);
  return [204];
}

function match(pattern, path) {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  let id = '';
  for (const [i, part] of wanted.entries()) {
    if (part === ':id') id = decodeURIComponent(given[i]);
    else if (part !== given[i]) return null;
  }
  return { id };
}

function chat(req, res, body) {
  const message = String(body.message ?? '').trim();
  if (message === '') return reply(res, ...fail(400, 'VALIDATION_ERROR', 'message must not be empty'));
  const known = byClientId.get(body.clientMessageId);
  if (known) return stream(req, res, known, 0, false);
  let conversation = conversations.get(body.conversationId);
  if (body.conversationId && !conversation) return reply(res, ...notFound());
  if (conversation?.running) return reply(res, ...fail(409, 'TURN_RUNNING', 'A turn is running in this conversation.'));
  if (!conversation) {
    conversation = {
      id: randomUUID(),
      agent: body.agent ?? 'discover',
      title: message.slice(0, 60),
      preview: message,
      createdAt: now(),
      updatedAt: now(),
      messages: [],
      running: null,
    };
    conversations.set(conversation.id, conversation);
  }
  const turn = startTurn(conversation, message);
  if (body.clientMessageId) byClientId.set(body.clientMessageId, turn);
  stream(req, res, turn, 0, false);
}

function reply(res, status, body) {
  if (body === undefined) return res.writeHead(status).end();
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

function serveFile(res, path) {
  const file = join(DIST, normalize(path));
  const found = file.startsWith(DIST) && existsSync(file) && statSync(file).isFile() ? file : join(DIST, 'index.html');
  res.writeHead(200, {
    'content-type': TYPES[extname(found)] ?? 'application/octet-stream',
    'content-security-policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    'x-content-type-options': 'nosniff',
  });
  createReadStream(found).pipe(res);
}

async function readJson(req) {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

async function handle(req, res) {
  const { pathname, searchParams } = new URL(req.url, 'http://mock');
  if (!pathname.startsWith('/api/')) return serveFile(res, pathname);
  if (!signedIn && pathname !== '/api/about' && !pathname.startsWith('/api/auth/'))
    return reply(res, ...fail(401, 'UNAUTHORIZED', 'Sign in first.'));
  if (req.method === 'POST' && pathname === '/api/chat/stream') return chat(req, res, await readJson(req));

  const followTurn = match('/api/turns/:id/stream', pathname);
  if (followTurn) {
    const turn = turns.get(followTurn.id);
    return turn ? stream(req, res, turn, Number(searchParams.get('after') ?? 0), true) : reply(res, ...notFound());
  }
  const followConversation = match('/api/conversations/:id/stream', pathname);
  if (followConversation) {
    const running = conversations.get(followConversation.id)?.running;
    return running ? stream(req, res, turns.get(running), 0, true) : reply(res, 204);
  }
  for (const [method, pattern, answer] of routes) {
    const found = req.method === method && match(pattern, pathname);
    if (found) return reply(res, ...answer({ ...found, query: searchParams, body: await readJson(req) }));
  }
  reply(res, ...notFound());
}

createServer((req, res) => {
  handle(req, res).catch((error) => reply(res, ...fail(500, 'INTERNAL_ERROR', String(error))));
}).listen(PORT, '127.0.0.1', () => console.log(`mock Segue on http://127.0.0.1:${PORT}`));
