// What a screen reader hears: finished blocks only, each once, never the letters as they drop in.
import { useEffect, useRef, useState } from 'react';
import { whatHappened } from '../tools/card';
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

export function Announcer({ message }: { message: ChatMessage | undefined }) {
  const [words, setWords] = useState('');
  const said = useRef<{ id: string; blocks: number } | null>(null);

  useEffect(() => {
    if (!message || message.role !== 'assistant') return;
    const blocks = finishedBlocks(message);
    // An answer that was complete when the page opened is there to be read, not to be shouted.
    const before = said.current?.id === message.id ? said.current.blocks : message.status === 'running' ? 0 : blocks.length;
    said.current = { id: message.id, blocks: blocks.length };
    if (blocks.length > before) setWords(blocks.slice(before).join('\n'));
  }, [message]);

  return (
    <div className="visually-hidden" aria-live="polite" data-testid="announcer">
      {words}
    </div>
  );
}

function spoken(part: Part): string {
  if (part.kind === 'text') return part.text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*_`#>]+/g, '');
  const { call } = part;
  return call.error ? whatHappened(call.error) : (call.summary ?? 'Done.');
}

function ending(message: ChatMessage): string[] {
  if (message.error) return [message.error.message];
  return message.status === 'stopped' ? ['Stopped.'] : [];
}
