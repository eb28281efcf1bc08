// Another MCP server, spoken to over its pipes: one tool that changes something, so Segue asks the person first.
// It is not one of the doubles of crates/doubles: those replace services that Segue calls over HTTP, and the Rust tests use a
// second Segue as the other MCP server. A browser test needs a tool that Segue does not have, which a reader can tell apart.
import { createInterface } from 'node:readline';

const TOOL = {
  name: 'send_postcard',
  title: 'Send a postcard',
  description: 'Sends a postcard.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to', 'text'],
  },
};
let sent = 0;

function answer(method, params) {
  if (method === 'initialize') {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'post', version: '1.0.0' },
    };
  }
  if (method === 'tools/list') return { tools: [TOOL] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: `Sent ${++sent} to ${params.arguments.to}` }] };
  return {};
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params ?? {}) })}\n`);
});
