// The message to the user about a failed call.
import type { ToolCall } from '../chat/reduce';

/** The server's message, then whether the call was or can be retried. */
export function whatHappened({ message, retryable, wasRetried }: NonNullable<ToolCall['error']>): string {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  if (message === 'Interrupted') return sentence;
  const tried = wasRetried ? ' Tried twice.' : '';
  const next = retryable ? ' The agent continues without it and may try again later.' : ' The agent continues without it.';
  return sentence + tried + next;
}
