import { expect, test } from 'vitest';
import { toggled } from './selection';

const tracks = ['a', 'b', 'c', 'd'].map((trackId) => ({ trackId }));
const keys = (map: ReadonlyMap<string, unknown>) => [...map.keys()].toSorted().join('');
const of = (ids: string) => new Map(tracks.filter(({ trackId }) => ids.includes(trackId)).map((track) => [track.trackId, track]));

test('one row changes sides, a range in either direction is added', () => {
  expect(keys(toggled(of(''), tracks, 1, 1))).toBe('b');
  expect(keys(toggled(of('ab'), tracks, 1, 1))).toBe('a');
  expect(keys(toggled(of('b'), tracks, 1, 3))).toBe('bcd');
  expect(keys(toggled(of('d'), tracks, 3, 1))).toBe('bcd');
  expect(keys(toggled(of('bc'), tracks, 1, 2))).toBe('bc');
});

test('a row that is not there changes nothing', () => expect(keys(toggled(of('a'), tracks, 9, 9))).toBe('a'));
