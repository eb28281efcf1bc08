import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { Frame } from '../api/types';
import Reading from './reading';
import { emptyChat, reduce, type ChatState } from './reduce';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const take = (state: ChatState, frame: Frame) => reduce(state, { type: 'frame', frame });

test('how much of a prompt is read is known until the first word comes', () => {
  const start: Frame = { type: 'message_start', seq: 1, messageId: 'm', conversationId: 'c', turnId: 't' };
  const read: Frame = { type: 'reading', seq: 2, tokensRead: 1024, tokensTotal: 4096 };
  const reading = [start, read].reduce(take, emptyChat('discover'));
  expect(reading.messages[0]?.reading).toBe(0.25);
  const [said] = take(reading, { type: 'text_delta', seq: 3, content: 'Here.' }).messages;
  expect(said && 'reading' in said).toBe(false);
});

test('a progress is shown at once, and a long silence without one after a while', () => {
  vi.useFakeTimers();
  const { rerender, container } = render(<Reading share={0.25} />);
  expect(screen.getByText('Reading… 25%')).toBeTruthy();
  rerender(<Reading share={undefined} />);
  expect(container.textContent).toBe('');
  act(() => vi.advanceTimersByTime(5_000));
  expect(screen.getByText('Reading…')).toBeTruthy();
});
