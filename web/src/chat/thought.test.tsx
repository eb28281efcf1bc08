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

const read: Frame = { type: 'reading', seq: 6, tokensRead: 1, tokensTotal: 2 };
const end: Frame = { type: 'message_end', seq: 8, usage: { inputTokens: 1, outputTokens: 1 }, stopReason: 'complete', notices: [] };
const live: Frame[] = [
  ...frames,
  { type: 'reasoning', seq: 5, content: 'Was that ' },
  read,
  { type: 'reasoning', seq: 7, content: 'all?' },
  end,
];
const content = [
  { type: 'reasoning', text: 'The user wants rain.\nSo I look.' },
  { type: 'text', text: 'Here.' },
  { type: 'reasoning', text: 'Was that all?' },
];
const stored = { id: 'c', agent: 'discover', title: 'x', messages: [{ id: 'm', role: 'assistant', content, status: 'complete' }] };

test('a reopened conversation shows the same reasoning as the live one', async () => {
  const [seen] = live.reduce(take, emptyChat('discover')).messages;
  const [reopened] = reduce(emptyChat('discover'), { type: 'loaded', conversation: stored as never }).messages;
  expect(seen?.thought).toBe('The user wants rain.\nSo I look.\n\nWas that all?');
  expect(reopened?.thought).toBe(seen?.thought);
  expect(reopened?.parts).toEqual(seen?.parts);
  expect(seen && 'thinking' in seen).toBe(false);
  render(<Message message={reopened!} />);
  const summary = await screen.findByText('Thinking', { selector: 'summary' });
  expect(summary.parentElement?.hasAttribute('open')).toBe(false);
  expect(summary.parentElement?.textContent).toContain('Was that all?');
});
