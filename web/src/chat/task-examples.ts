// What to try with the Tasks agent: only what works with the list as it is.
import type { Task } from '../api/types';
import { t } from '../i18n';

/** `examples`: the agent's own. The first one adds tasks, the second lists them; the others need tasks of these names. */
export function taskExamples(examples: string[], tasks: Task[] = []): string[] {
  const open = tasks.filter(({ completed }) => !completed);
  if (open.length === 0) return examples.slice(0, 1);
  return [...examples.slice(0, 2), ...open.slice(0, 2).map(({ title }) => t('I have finished “{title}”', { title }))];
}
