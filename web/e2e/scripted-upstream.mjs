// A model that always says what the book says: OpenAI Chat Completions, streaming, played from `scenarios.mjs`.
//
//   node e2e/scripted-upstream.mjs [port]
import { createServer } from 'node:http';
import { scenarioFor, speak } from './scenarios.mjs';

const PORT = Number(process.argv[2] ?? 8094);
const broken = new Map();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''));

/** Everything since the last thing the person said: how far this turn has come. */
function sinceQuestion(messages) {
  const at = messages.findLastIndex((message) => message.role === 'user');
  return { question: textOf(messages[at]?.content), after: messages.slice(at + 1) };
}

function callsOf(round, after) {
  const seen = after
    .filter((message) => message.role === 'tool')
    .map((message) => textOf(message.content))
    .join('\n');
  if (round.playlistFrom) {
    const isrcs = [...new Set([...seen.matchAll(/"isrc"\s*:\s*"([A-Z0-9]{12})"/g)].map((hit) => hit[1]))].slice(0, 5);
    return [
      {
        name: 'suggestPlaylist',
        input: { title: round.title, tracks: isrcs.map((isrc) => ({ isrc, reasoning: 'It keeps the light low.' })) },
      },
    ];
  }
  if (round.withFirst) {
    const id = /"id"\s*:\s*"(t[0-9a-f]{5})"/.exec(seen)?.[1] ?? 'none';
    return [{ name: round.withFirst, input: { task_id: id } }];
  }
  return round.calls ?? [];
}

/** Names the first track that was found, as a model would. */
function textOfRound(round, after) {
  if (!round.nameFirst) return round.text ?? '';
  const title = /"title"\s*:\s*"([^"]+)"/.exec(after.map((message) => textOf(message.content)).join('\n'))?.[1];
  return `Begin with **${title}**.`;
}

async function answer(body, res) {
  const { question, after } = sinceQuestion(body.messages);
  const scenario = scenarioFor(question);
  const round = scenario.rounds[after.filter((message) => message.role === 'assistant').length] ?? { text: 'That is all.' };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta, finish = null, extra = {}) =>
    res.write(
      `data: ${JSON.stringify({ id: 'scripted', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }], ...extra })}\n\n`,
    );

  chunk({ role: 'assistant', content: '' });
  const timesBroken = broken.get(question) ?? 0;
  if ((scenario.breaks ?? 0) > timesBroken) {
    broken.set(question, timesBroken + 1);
    chunk({ content: 'I was about to tell you ' });
    await sleep(50);
    return res.destroy();
  }
  const finished = await speak(
    textOfRound(round, after),
    round.paceMs ?? 18,
    (piece) => !res.destroyed && chunk({ content: piece }) !== undefined,
  );
  if (!finished) return;
  const calls = callsOf(round, after);
  calls.forEach(({ name, input }, index) => {
    chunk({
      tool_calls: [{ index, id: `call_${Date.now()}_${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    });
  });
  chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
  res.write(
    `data: ${JSON.stringify({ id: 'scripted', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [], usage: { prompt_tokens: 412, completion_tokens: 40, total_tokens: 452 } })}\n\n`,
  );
  res.end('data: [DONE]\n\n');
}

createServer(async (req, res) => {
  if (!req.url?.endsWith('/chat/completions')) return res.writeHead(200).end('{}');
  let text = '';
  for await (const part of req) text += part;
  await answer(JSON.parse(text), res);
}).listen(PORT, '127.0.0.1', () => console.log(`scripted model on http://127.0.0.1:${PORT}`));
