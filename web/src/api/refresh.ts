// Reads again what has changed.
import type { QueryClient, QueryKey } from '@tanstack/react-query';

/**
 * A first read that is under way may have been answered before the change. Invalidating alone would wait for that
 * answer and keep it, so it is cancelled.
 */
export async function refresh(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}
