// Why the server did not take a message, as the page keeps it.
import { ApiError, explain } from '../api/client';
import type { Failure } from './reduce';

export function refusalOf(error: unknown): Failure {
  const code = error instanceof ApiError ? error.code : 'UNREACHABLE';
  const waitSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  const retryable = !(error instanceof ApiError) || error.status === 429 || error.status >= 500;
  return { code, message: explain(error), retryable, ...(waitSeconds && { retryAt: Date.now() + waitSeconds * 1000 }) };
}
