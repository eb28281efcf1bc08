// What a call came to, in the page's language. The server's summary is in English: it is for models and other clients.
import type { ToolCall } from '../chat/parts';
import { plural, t } from '../i18n';
import { cardFor } from './index';
import { whatHappened } from './words';

/** The words after the title of a call that has ended; empty if the title says it all. */
export function outcomeOf(call: ToolCall): string {
  if (call.status !== 'done') return '';
  const card = cardFor(call);
  const { count } = call;
  if (card.outcome) return card.outcome(call);
  if (count === 0) return t('nothing found');
  return card.counts && count ? plural(count, '{n} found', '{n} found') : '';
}

/** A call that has ended, for a screen reader. */
export function spokenOutcome(call: ToolCall): string {
  if (call.error) return whatHappened(call.error);
  return [cardFor(call).title(call.input, false), outcomeOf(call)].filter(Boolean).join(' · ');
}
