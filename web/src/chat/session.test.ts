import { afterEach, expect, it, vi } from 'vitest';
import type { ChatRequest, Frame, OpenConversation } from '../api/types';
import { Session } from './session';

afterEach(() => vi.unstubAllGlobals());

const FAILED = [
  { type: 'message_start', seq: 1, messageId: 'answer', conversationId: 'talk', turnId: 'turn' },
  { type: 'error', seq: 2, code: 'AI_SERVICE_UNAVAILABLE', message: 'It broke.', retryable: true },
] as Frame[];
const STORED = {
  id: 'talk',
  agent: 'discover',
  title: 'Rain',
  messages: [
    { id: 'question', role: 'user', content: [{ type: 'text', text: 'rain' }], status: 'complete' },
    { id: 'answer', role: 'assistant', content: [], status: 'error', parentId: 'question' },
  ],
} as unknown as OpenConversation;
const stream = (frames: Frame[]) => frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
const events = {
  onConversation: () => undefined,
  onToolDone: () => undefined,
  onTurnStart: () => undefined,
  onTurnEnd: () => undefined,
  onTurnLost: () => undefined,
};

it('keeps one question that is tried again before the page knows the id that the server gave it', async () => {
  const sent: ChatRequest[] = [];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    if (path.startsWith('/api/conversations/')) return Response.json(STORED);
    sent.push(JSON.parse(String(init.body)) as ChatRequest);
    return new Response(stream(FAILED), { headers: { 'content-type': 'text/event-stream' } });
  });
  const session = new Session('discover', null, events);
  const failed = new Promise<void>((resolve) => {
    // As soon as the button could be pressed.
    const stop = session.subscribe(() => {
      const last = session.getState().messages.at(-1);
      if (last?.status !== 'error') return;
      stop();
      void session.retry(last);
      resolve();
    });
  });
  session.send('rain');
  await failed;
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toMatchObject({ message: 'rain', conversationId: 'talk', editOf: 'question' });
  expect(session.getState().messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});
