import { expect, it } from 'vitest';
import { fileName, messageMarkdown } from './export';
import { RECORDINGS } from './recorded';
import { fromStored } from './reduce';

it('writes an answer as Markdown: what was found, what was said', () => {
  const answer = RECORDINGS['discover']!.conversation.messages.find(({ role }) => role === 'assistant')!;
  expect(messageMarkdown(fromStored(answer))).toMatch(/1\. \*\*Harbour Lights\*\* — /);
});

it('makes file names that every system takes', () => {
  expect(fileName('What? A/B: “Rain”', 'md')).toBe('What AB Rain.md');
  expect(fileName('???', 'json')).toBe('conversation.json');
});
