import { expect, it } from 'vitest';
import { asTask, linesOf, LONGEST_TITLE } from './new-tasks';

it('reads one task a line, whatever marks stand before it', () => {
  expect(linesOf('- [ ] milk\n* eggs\n\n1. bread\r\n  call Ada\n3 apples')).toEqual(['milk', 'eggs', 'bread', 'call Ada', '3 apples']);
});

it('cuts no word away: what is too long for a title is in the description', () => {
  const long = `Read https://example.org/${'a'.repeat(120)} and then ${'write about it '.repeat(10)}`.trim();
  const { title, description } = asTask(long);
  expect(title.length).toBeLessThanOrEqual(LONGEST_TITLE);
  expect(description).toBe(long);
  expect(asTask('short')).toEqual({ title: 'short' });
});
