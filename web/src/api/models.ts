// The models: which one answers, which can be chosen, and what is known about each.
import { useQuery } from '@tanstack/react-query';
import { getJson } from './client';
import type { ModelList, UsageToday } from './types';

export const useModels = () =>
  useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => getJson<ModelList>('/api/models', signal),
    staleTime: 10_000,
    // A model that was just chosen is being tried; what it can do comes a moment later.
    refetchInterval: ({ state }) => (state.data && isBeingTried(state.data) ? 1_500 : false),
  });

export const useUsage = () => useQuery({ queryKey: ['usage'], queryFn: ({ signal }) => getJson<UsageToday>('/api/usage', signal) });

function isBeingTried({ active, found }: ModelList): boolean {
  if (active?.chosenBy !== 'operator') return false;
  const models = found?.find(({ server }) => server === active.server)?.models ?? [];
  return models.some(({ name, capabilities }) => active.id.endsWith(`:${name}`) && !capabilities);
}
