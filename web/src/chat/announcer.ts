// Saying each finished block of an answer once, never the letters as they arrive.
import { t } from '../i18n';
import { say } from '../ui/live-region';
import { spokenOutcome } from '../tools/outcome';
import type { ChatMessage, Part } from './reduce';

/** The parts of an answer that will not change any more, as sentences. */
export function finishedBlocks(message: ChatMessage): string[] {
  const over = message.status !== 'running';
  const blocks: string[] = [];
  for (const [index, part] of message.parts.entries()) {
    const settled = over || (part.kind === 'text' ? index < message.parts.length - 1 : part.call.status !== 'running');
    // In order: what comes after something unfinished has to wait for it.
    if (!settled) return blocks;
    blocks.push(spoken(part));
  }
  if (over) blocks.push(...ending(message));
  return blocks;
}

/**
 * Belongs to a session, not to a component: an answer that arrives in one piece while the page moves from the new chat
 * to its address must be heard as well. Only answers whose beginning this page saw are announced; stored ones are read.
 */
export class Announcer {
  private said = new Map<string, number>();

  began(messageId: string): void {
    if (!this.said.has(messageId)) this.said.set(messageId, 0);
  }

  update(message: ChatMessage | undefined): void {
    const before = message && this.said.get(message.id);
    if (!message || before === undefined) return;
    const blocks = finishedBlocks(message);
    if (blocks.length <= before) return;
    this.said.set(message.id, blocks.length);
    say(blocks.slice(before).join('\n'));
  }
}

function spoken(part: Part): string {
  if (part.kind === 'text') return part.text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*_`#>]+/g, '');
  const { call } = part;
  if (call.consentId) return t('A tool of another server waits for your decision: allow or refuse it in the answer.');
  return spokenOutcome(call);
}

function ending(message: ChatMessage): string[] {
  if (message.error) return [message.error.message];
  if (message.status === 'stopped') return [t('Stopped.')];
  return message.parts.length === 0 ? [t('The answer is empty.')] : [];
}
