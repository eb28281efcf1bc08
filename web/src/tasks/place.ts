// Where a task goes when it is moved in a list, in the words of the server: next to which other task.
import type { Task } from '../api/types';

export type TaskPlace = { before: string } | { after: string };

/** The place at `to` of the rows that are shown; nothing when the task is there already. */
export function placeOf(shown: Task[], id: string, to: number): TaskPlace | null {
  const from = shown.findIndex((task) => task.id === id);
  const place = Math.max(0, Math.min(shown.length - 1, to));
  const other = shown[place];
  if (from < 0 || from === place || !other) return null;
  return place > from ? { after: other.id } : { before: other.id };
}

/** The whole list with one task next to another one. */
export function placed(tasks: Task[], id: string, place: TaskPlace): Task[] {
  const task = tasks.find((one) => one.id === id);
  const rest = tasks.filter((one) => one.id !== id);
  const at = rest.findIndex((one) => one.id === ('before' in place ? place.before : place.after));
  if (!task || at < 0) return tasks;
  return rest.toSpliced('before' in place ? at : at + 1, 0, task);
}
