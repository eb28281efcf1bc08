import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { UsageLine } from './usage-line';

const resetsAt = '2026-01-02T00:00:00Z';

test('the use of a day is told with its limit and its cost, where there are any', () => {
  const { rerender } = render(<UsageLine today={{ tokens: 12345, tokensPerDay: 100000, costUsd: 0.0042, resetsAt }} />);
  expect(screen.getByText('12,345 of 100,000 tokens (parts of words) · $0.0042')).toBeTruthy();
  rerender(<UsageLine today={{ tokens: 7, costUsd: 12.5, resetsAt }} />);
  expect(screen.getByText('7 tokens (parts of words) · $12.50')).toBeTruthy();
  rerender(<UsageLine today={{ tokens: 7, resetsAt }} />);
  expect(screen.getByText('7 tokens (parts of words)')).toBeTruthy();
});
