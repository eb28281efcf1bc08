import { expect, test } from 'vitest';
import { moved } from './moved';

const list = (letters: string) => [...letters].map((itemId) => ({ itemId }));
const spelled = (items: { itemId: string }[] | null) => items?.map(({ itemId }) => itemId).join('') ?? null;

test.each([
  ['abcd', 'a', 2, 'bcad'],
  ['abcd', 'd', 0, 'dabc'],
  ['abcd', 'b', 9, 'acdb'],
  ['abcd', 'c', -3, 'cabd'],
  ['abcd', 'a', 0, null],
  ['abcd', 'd', 4, null],
  ['abcd', 'x', 1, null],
])('%s with %s moved to %i is %s', (letters, item, to, expected) => {
  expect(spelled(moved(list(letters), item, to))).toBe(expected);
});
