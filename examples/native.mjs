// Chat with Segue in its own protocol: node examples/native.mjs "add buy milk" tasks
const base = process.env.SEGUE_URL ?? 'http://127.0.0.1:8080';
const headers = { 'content-type': 'application/json' };
if (process.env.SEGUE_TOKEN) headers.authorization = `Bearer ${process.env.SEGUE_TOKEN}`;

/** Yields events as they arrive. After a lost connection it resumes at the same event; the turn continues on the server. */
async function* ask(message, agent) {
  let response = await fetch(`${base}/api/chat/stream`, {
    method: 'POST', headers, body: JSON.stringify({ message, agent, clientMessageId: crypto.randomUUID() }),
  });
  for (let turn, seq = 0; ;) {
    if (!response.ok) throw new Error((await response.json()).error.message);
    try {
      for await (const event of eventsOf(response.body)) {
        turn ??= event.turnId;
        seq = event.seq;
        yield event;
        if (event.type === 'message_end' || event.type === 'error') return;
      }
    } catch (lost) {
      if (!turn) throw lost;
    }
    response = await fetch(`${base}/api/turns/${turn}/stream?after=${seq}`, { headers });
  }
}

async function* eventsOf(body) {
  let buffer = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const frames = (buffer + text).split('\n\n');
    buffer = frames.pop();
    for (const frame of frames) {
      const data = frame.match(/^data: (.*)$/m);  // a frame without data is a keep-alive comment
      if (data) yield JSON.parse(data[1]);
    }
  }
}

for await (const event of ask(process.argv[2] ?? 'hello', process.argv[3] ?? 'discover')) {
  if (event.type === 'text_delta') process.stdout.write(event.content);
  if (event.type === 'tool_call_start') console.log(`\n· ${event.toolName} ${JSON.stringify(event.input)}`);
  if (event.type === 'tool_call_end') console.log(`✓ ${event.summary}`);
  if (event.type === 'tool_call_error' || event.type === 'error') console.log(`✗ ${event.error ?? event.message}`);
}
console.log();
