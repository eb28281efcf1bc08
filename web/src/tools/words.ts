// What a failed call says to a person.
import type { ToolCall } from '../chat/reduce';

/** The server's own sentence, then what was and will be done about it. */
export function whatHappened({ message, retryable, wasRetried }: NonNullable<ToolCall['error']>): string {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  if (message === 'Interrupted') return sentence;
  const tried = wasRetried ? ' Tried twice.' : '';
  const next = retryable ? ' The agent goes on without it and may try again later.' : ' The agent goes on without it.';
  return sentence + tried + next;
}
