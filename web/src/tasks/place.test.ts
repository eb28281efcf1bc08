import { expect, test } from 'vitest';
import type { Task } from '../api/types';
import { placed, placeOf } from './place';

const tasks = ['a', 'b', 'c', 'd'].map((id) => ({ id }) as Task);
const order = (list: Task[]) => list.map(({ id }) => id).join('');

test.each([
  ['a', 2, 'bcad'],
  ['d', 0, 'dabc'],
  ['b', 9, 'acdb'],
  ['c', -1, 'cabd'],
])('%s at %i is %s', (id, to, expected) => {
  const place = placeOf(tasks, id, to);
  expect(place && order(placed(tasks, id, place))).toBe(expected);
});

test('a task that is there already, or is not in the list, moves nowhere', () => {
  expect(placeOf(tasks, 'b', 1)).toBeNull();
  expect(placeOf(tasks, 'x', 1)).toBeNull();
  expect(order(placed(tasks, 'a', { before: 'x' }))).toBe('abcd');
});
