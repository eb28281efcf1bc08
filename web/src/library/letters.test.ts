import { expect, test } from 'vitest';
import { letterOf, lettersOf } from './letters';

test.each([
  ['Abba', 'A'],
  [' émilie', 'E'],
  ['Ólafur', 'O'],
  ['2 Steps', '#'],
  ['山本', '#'],
  ['', '#'],
])('%s is under %s', (name, letter) => expect(letterOf(name)).toBe(letter));

test('each letter leads to the first name under it', () => {
  expect(lettersOf(['10cc', 'abc', 'Axe', 'Zed'])).toEqual([
    { letter: '#', row: 0 },
    { letter: 'A', row: 1 },
    { letter: 'Z', row: 3 },
  ]);
});
