import { expect, test } from 'vitest';
import { distinctLimits, withoutLimit, type AppliedLimit } from './without-limit';

const limit = (label: string, text: string): AppliedLimit => ({ kind: 'years', label, text });
const nineties = limit('1990–1999', 'from the 90s');
const drums = limit('without drums', 'no drums');
const french = limit('in French', '');

test.each([
  ['calm piano from the 90s', [nineties], nineties, 'calm piano'],
  ['from the 90s, calm piano', [nineties], nineties, 'calm piano'],
  ['calm piano from the 90s and no drums', [nineties, drums], drums, 'calm piano from the 90s'],
  ['calm piano, from the 90s, no drums', [nineties, drums], nineties, 'calm piano, no drums'],
  ['Find calm piano FROM THE 90s, please.', [nineties], nineties, 'Find calm piano, please.'],
])('%s, %j', (words, applied, gone, asked) => expect(withoutLimit(words, words, applied, gone)).toBe(asked));

test('a limit that a model added is left out of its query, and its other limits are named', () => {
  const words = 'what we heard in Paris';
  expect(withoutLimit(words, 'calm piano from the 90s', [nineties, french], nineties)).toBe('calm piano, in French');
  expect(withoutLimit(words, 'calm piano from the 90s', [nineties, french], french)).toBe('calm piano from the 90s');
});

test('a limit that was said twice goes twice', () => {
  const twice = [drums, limit('without drums', '')];
  expect(withoutLimit('calm, no drums', 'calm, no drums', twice, drums)).toBe('calm');
  expect(distinctLimits([...twice, french])).toEqual([drums, french]);
});

test('with nothing left to look for there is nothing to ask', () => {
  expect(withoutLimit('from the 90s', 'from the 90s', [nineties], nineties)).toBeNull();
});
