// What a call came to, in the page's language. The server's summary is in English: it is for models and other clients.
import { countResults, type ToolCall } from '../chat/parts';
import { plural, t } from '../i18n';
import { cardFor } from './index';
import { whatHappened } from './words';

/** The words after the title of a call that has ended; empty if the title says it all. */
export function outcomeOf(call: ToolCall): string {
  if (call.status !== 'done') return '';
  const card = cardFor(call.name);
  if (card.outcome) return card.outcome(call);
  const n = countResults(call.output);
  if (n === 0) return t('nothing found');
  return card.counts ? plural(n, '{n} found', '{n} found') : '';
}

/** A call that has ended, for a screen reader. */
export function spokenOutcome(call: ToolCall): string {
  if (call.error) return whatHappened(call.error);
  return [cardFor(call.name).title(call.input, false), outcomeOf(call)].filter(Boolean).join(' · ');
}
