import { expect, test } from 'vitest';
import { daysLeft } from './days-left';

const now = Date.parse('2026-11-01T12:00:00Z');

test.each([
  ['2026-12-01T11:59:00Z', 30],
  ['2026-11-03T12:00:00Z', 2],
  ['2026-11-01T12:05:00Z', 1],
  ['2026-11-01T11:00:00Z', 1],
])('until %s: %i', (until, left) => expect(daysLeft(until, now)).toBe(left));
