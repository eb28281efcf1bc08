import { expect, it } from 'vitest';
import { byDay } from './by-day';

const now = new Date(2026, 10, 15, 9, 0);
const at = (...when: [number, number, number, number?, number?]) => new Date(...(when as [number, number, number])).toISOString();

it('puts conversations under the days people remember', () => {
  const rows: [string, string][] = [
    [at(2026, 10, 15, 8, 59), 'Today'],
    [at(2026, 10, 15, 0, 0), 'Today'],
    [at(2026, 10, 14, 23, 59), 'Yesterday'],
    [at(2026, 10, 12), 'Thursday'],
    [at(2026, 10, 8), 'Last 30 days'],
    [at(2026, 10, 1), 'Last 30 days'],
    [at(2026, 8, 3), 'September 2026'],
  ];
  const conversations = rows.map(([updatedAt], i) => ({
    id: String(i),
    agent: 'discover' as const,
    title: '',
    preview: '',
    createdAt: updatedAt,
    pinned: false,
    running: false,
    updatedAt,
  }));
  const labels = byDay(conversations, now).flatMap((day) => day.conversations.map(() => day.label));
  expect(labels).toEqual(rows.map(([, label]) => label));
});

it('puts pinned conversations before all days', () => {
  const row = (id: string, pinned: boolean) => ({
    id,
    agent: 'discover' as const,
    title: id,
    preview: '',
    createdAt: '',
    updatedAt: at(2026, 9, 1),
    pinned,
    running: false,
  });
  expect(byDay([row('a', true), row('b', false)], now).map(({ label }) => label)).toEqual(['Pinned', 'October 2026']);
});
