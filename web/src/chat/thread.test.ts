import { expect, it } from 'vitest';
import type { ChatMessage } from './reduce';
import { isRepeat } from './thread';

const user = (id: string, text: string): ChatMessage => ({ id, role: 'user', parts: [{ kind: 'text', text }], status: 'complete' });
const answer = (id: string, status: ChatMessage['status']): ChatMessage => ({ id, role: 'assistant', parts: [], status });

it('shows a question once when it was asked again after an error, and twice when it was asked twice', () => {
  const retried = [
    user('1', 'hello'),
    answer('2', 'error'),
    user('3', 'hello'),
    answer('4', 'error'),
    user('5', 'hello'),
    answer('6', 'complete'),
  ];
  const askedTwice = [user('1', 'hello'), answer('2', 'complete'), user('3', 'hello'), answer('4', 'complete')];
  const movedOn = [user('1', 'hello'), answer('2', 'error'), user('3', 'never mind')];
  const shown = (messages: ChatMessage[]) => messages.filter((message, index) => !isRepeat(messages, index, message)).map(({ id }) => id);
  expect(shown(retried)).toEqual(['1', '2', '4', '6']);
  expect(shown(askedTwice)).toEqual(['1', '2', '3', '4']);
  expect(shown(movedOn)).toEqual(['1', '2', '3']);
});
