import { expect, it } from 'vitest';
import { distinctFailures } from './import-report';

it('tells why a file cannot be read once', () => {
  const line = { file: 'a.mp3', line: 1, reason: 'the tags cannot be read' };
  const whole = { file: 'a.mp3', line: 0, reason: 'no entries found: none of 1 entries can be used; line 1: the tags cannot be read' };
  const other = { file: 'b.json', line: 0, reason: 'the file is empty' };
  expect(distinctFailures([line, whole, other])).toEqual([line, other]);
  expect(distinctFailures([whole])).toEqual([whole]);
});
