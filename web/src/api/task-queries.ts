// Reads and writes of the to-do list.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getPages, patch, post, remove } from './client';
import { useChanged } from './queries';
import { placed, type TaskPlace } from '../tasks/place';
import type { NewTask, Task, TaskList } from './types';

const TASKS = ['tasks'];

/** One list for every view. Filters are applied to it, so a change appears in all views at once. */
export const useTasks = () =>
  useQuery({
    queryKey: TASKS,
    queryFn: async ({ signal }) => (await getPages<TaskList>('/api/tasks?filter=all', signal)).flatMap(({ tasks }) => tasks),
    // Another device or an assistant over MCP may change tasks too.
    refetchInterval: 20_000,
  });

/** A write with an optimistic update, which is reverted if the server rejects it. */
function useTaskWrite<V>(write: (variables: V) => Promise<unknown>, preview: (tasks: Task[], variables: V) => Task[]) {
  const queries = useQueryClient();
  const changed = useChanged();
  return useMutation({
    mutationFn: write,
    onMutate: async (variables: V) => {
      await queries.cancelQueries({ queryKey: TASKS });
      const before = queries.getQueryData<Task[]>(TASKS);
      if (before) queries.setQueryData(TASKS, preview(before, variables));
      return { before };
    },
    onError: (_error, _variables, context) => queries.setQueryData(TASKS, context?.before),
    onSettled: () => changed('tasks'),
  });
}

export type TaskChange = { id: string } & Partial<Pick<Task, 'title' | 'description' | 'completed'>>;

export const useUpdateTask = () =>
  useTaskWrite<TaskChange>(
    ({ id, ...change }) => patch(`/api/tasks/${id}`, change),
    (tasks, change) => tasks.map((task) => (task.id === change.id ? { ...task, ...change } : task)),
  );

export const useMoveTask = () =>
  useTaskWrite<{ id: string; place: TaskPlace }>(
    ({ id, place }) => patch(`/api/tasks/${id}`, place),
    (tasks, { id, place }) => placed(tasks, id, place),
  );

export const useAddTask = () =>
  useTaskWrite<NewTask>(
    (task) => post('/api/tasks', task),
    (tasks) => tasks,
  );

export const useDeleteTask = () =>
  useTaskWrite<string>(
    (id) => remove(`/api/tasks/${id}`),
    (tasks, id) => tasks.filter((task) => task.id !== id),
  );

export const useRestoreTask = () =>
  useTaskWrite<string>(
    (id) => post(`/api/tasks/${id}/restore`, {}),
    (tasks) => tasks,
  );
