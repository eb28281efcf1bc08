// The to-do list: what is open first, what is done folded below. On its own page and beside a Tasks conversation.
import { ListTodo } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useTasks } from '../api/task-queries';
import { plural, t } from '../i18n';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { AddTask } from './add-task';
import { TaskList } from './task-list';
import './task-panel.css';

interface Props {
  /** The task that the address names. */
  wanted?: string | null;
}

export function TaskPanel({ wanted = null }: Props) {
  const { data: tasks, error, refetch } = useTasks();
  const [added, setAdded] = useState<string[]>([]);
  const open = tasks?.filter((task) => !task.completed) ?? [];
  const done = tasks?.filter((task) => task.completed) ?? [];
  const isGone = wanted !== null && tasks !== undefined && !tasks.some(({ id }) => id === wanted);

  return (
    <div className="task-panel">
      <AddTask onAdded={setAdded} />
      {error && !tasks && <Failed error={error} onRetry={() => void refetch()} />}
      {!tasks && !error && <SkeletonRows rows={4} height={44} label={t('Loading tasks')} />}
      {isGone && (
        <p className="task-gone" role="status">
          {t('This task is no longer on your list.')} <Link href="/trash">{t('Trash')}</Link>
        </p>
      )}
      {open.length > 0 && (
        <section>
          <h2 className="task-heading">{plural(open.length, '{n} task open', '{n} tasks open')}</h2>
          <TaskList label={t('Tasks')} tasks={open} added={added} wanted={wanted} />
        </section>
      )}
      {tasks && open.length === 0 && (
        <Empty icon={ListTodo} title={done.length === 0 ? t('A clear day') : t('All done')}>
          <p>{t('Add a task above, or tell the Tasks agent what is on your mind.')}</p>
        </Empty>
      )}
      {done.length > 0 && (
        <details className="task-done" open={done.some(({ id }) => id === wanted) || undefined}>
          <summary className="task-heading">{t('Done ({n})', { n: done.length })}</summary>
          <TaskList label={t('Done tasks')} tasks={done} added={[]} wanted={wanted} />
        </details>
      )}
    </div>
  );
}

export default TaskPanel;
