import { expect, test } from 'vitest';
import type { Frame, StoredMessage } from '../api/types';
import { emptyChat, fromStored, reduce, type ChatState } from './reduce';

test('what an answer cost is the same live and when it is opened again, and nothing without a price', () => {
  const usage = { inputTokens: 10, outputTokens: 2 };
  const start: Frame = { type: 'message_start', seq: 1, messageId: 'm', conversationId: 'c', turnId: 't' };
  const end = { type: 'message_end', seq: 2, usage, stopReason: 'complete', notices: [] } as const;
  const stored = { id: 'm', role: 'assistant', content: [], status: 'complete', createdAt: '2026-01-01T00:00:00Z', usage };
  const live = (frame: Frame) =>
    [start, frame].reduce((state: ChatState, next) => reduce(state, { type: 'frame', frame: next }), emptyChat('discover')).messages[0];
  expect(live({ ...end, notices: [], costUsd: 0.0042 })?.costUsd).toBe(0.0042);
  expect(fromStored({ ...stored, costUsd: 0.0042 } as unknown as StoredMessage).costUsd).toBe(0.0042);
  expect(live({ ...end, notices: [] })).not.toHaveProperty('costUsd');
  expect(fromStored(stored as unknown as StoredMessage)).not.toHaveProperty('costUsd');
});
