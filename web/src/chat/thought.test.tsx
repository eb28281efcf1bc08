import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Frame } from '../api/types';
import { Message } from './message';
import { emptyChat, reduce, type ChatState } from './reduce';

afterEach(cleanup);

const IDS = { messageId: 'm', conversationId: 'c', turnId: 't' };
const frames: Frame[] = [
  { type: 'message_start', seq: 1, ...IDS },
  { type: 'reasoning', seq: 2, content: 'The user wants rain.\n' },
  { type: 'reasoning', seq: 3, content: 'So I look.' },
  { type: 'text_delta', seq: 4, content: 'Here.' },
];
const take = (state: ChatState, frame: Frame) => reduce(state, { type: 'frame', frame });

test('reasoning is folded above the answer and is no part of it', async () => {
  const [answer] = frames.reduce(take, emptyChat('discover')).messages;
  expect(answer?.parts).toEqual([{ kind: 'text', text: 'Here.' }]);
  render(<Message message={answer!} />);
  const summary = await screen.findByText('Thinking', { selector: 'summary' });
  expect(summary.parentElement?.hasAttribute('open')).toBe(false);
  expect(summary.parentElement?.textContent).toContain('The user wants rain.\nSo I look.');
});

test('what the page has seen of it stays when the stored conversation is read again', () => {
  const live = [...frames, { type: 'message_end', seq: 5, usage: { inputTokens: 1, outputTokens: 1 }, stopReason: 'complete' } as Frame];
  const messages = [{ id: 'm', role: 'assistant', content: [{ type: 'text', text: 'Here.' }], status: 'complete' }];
  const conversation = { id: 'c', agent: 'discover', title: 'x', messages } as never;
  const state = reduce(live.reduce(take, emptyChat('discover')), { type: 'loaded', conversation });
  expect(state.messages[0]?.thought).toBe('The user wants rain.\nSo I look.');
});
