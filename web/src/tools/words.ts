// The message to the user about a failed call.
import type { ToolCall } from '../chat/reduce';
import { INTERRUPTED } from '../chat/parts';
import { t } from '../i18n';

/** The server's message, then whether the call was or can be retried. */
export function whatHappened({ message, retryable, wasRetried }: NonNullable<ToolCall['error']>): string {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  if (message === INTERRUPTED) return t('Interrupted.');
  const next = retryable ? t('The agent continues without it and may try again later.') : t('The agent continues without it.');
  return [sentence, wasRetried && t('Tried twice.'), next].filter(Boolean).join(' ');
}
