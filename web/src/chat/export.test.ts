import { expect, it } from 'vitest';
import { conversationMarkdown, fileName } from './export';
import { RECORDINGS } from './recorded';

it('writes a conversation as Markdown: who spoke, what was found, what was said', () => {
  const text = conversationMarkdown(RECORDINGS['discover']!.conversation);
  expect(text).toMatch(/^# /);
  expect(text).toContain('## You');
  expect(text).toContain('## Segue');
  expect(text).toMatch(/1\. \*\*Harbour Lights\*\* — /);
});

it('makes file names that every system takes', () => {
  expect(fileName('What? A/B: “Rain”', 'md')).toBe('What AB Rain.md');
  expect(fileName('???', 'json')).toBe('conversation.json');
});
