import { expect, it } from 'vitest';
import { ApiError, explain } from './client';

it('shows the problem with a field once, with its subject', () => {
  const details = [{ field: 'title', message: 'must have 1 to 200 characters' }];
  const error = new ApiError(400, 'VALIDATION_ERROR', '`title` must have 1 to 200 characters', details);
  expect(explain(error)).toBe('`title` must have 1 to 200 characters');
});

it('adds what only the details say', () => {
  const error = new ApiError(400, 'VALIDATION_ERROR', 'The import failed.', [{ field: 'file', message: 'Line 3 is empty.' }]);
  expect(explain(error)).toBe('The import failed. Line 3 is empty.');
});
