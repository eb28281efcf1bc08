// The to-do list: what is open first, what is done folded below. On its own page and beside a Tasks conversation.
import { ListTodo } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTasks } from '../api/task-queries';
import type { Task } from '../api/types';
import { plural, t } from '../i18n';
import { isTyping } from '../ui/keys';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { AddTask } from './add-task';
import { TaskRow } from './task-row';
import './task-panel.css';

export function TaskPanel() {
  const { data: tasks, error, refetch } = useTasks();
  const [added, setAdded] = useState<string[]>([]);
  const open = tasks?.filter((task) => !task.completed) ?? [];
  const done = tasks?.filter((task) => task.completed) ?? [];

  return (
    <div className="task-panel">
      <AddTask onAdded={setAdded} />
      {error && !tasks && <Failed error={error} onRetry={() => void refetch()} />}
      {!tasks && !error && <SkeletonRows rows={4} height={44} label={t('Loading tasks')} />}
      {open.length > 0 && (
        <section>
          <h2 className="task-heading">{plural(open.length, '{n} task open', '{n} tasks open')}</h2>
          <TaskList label={t('Tasks')} tasks={open} added={added} />
        </section>
      )}
      {tasks && open.length === 0 && (
        <Empty icon={ListTodo} title={done.length === 0 ? t('A clear day') : t('All done')}>
          <p>{t('Add a task above, or tell the Tasks agent what is on your mind.')}</p>
        </Empty>
      )}
      {done.length > 0 && (
        <details className="task-done">
          <summary className="task-heading">{t('Done ({n})', { n: done.length })}</summary>
          <TaskList label={t('Done tasks')} tasks={done} added={[]} />
        </details>
      )}
    </div>
  );
}

interface ListProps {
  label: string;
  tasks: Task[];
  /** The newest: brought into view and marked for a moment, because the list may be long. */
  added: string[];
}

function TaskList({ label, tasks, added }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const newest = added.at(-1);
  const isHere = tasks.some(({ id }) => id === newest);
  useEffect(() => {
    if (newest && isHere) list.current?.querySelector('[data-new="true"]:last-of-type')?.scrollIntoView({ block: 'nearest' });
  }, [newest, isHere]);
  return (
    <ul className="task-list" aria-label={label} ref={list} onKeyDown={moveBetweenRows}>
      {tasks.map((task) => (
        <TaskRow key={task.id} task={task} isNew={added.includes(task.id)} />
      ))}
    </ul>
  );
}

/** Arrow keys go from check box to check box. */
function moveBetweenRows(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || isTyping(event.target)) return;
  const boxes = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="checkbox"]')];
  const row = (event.target as Element).closest('li');
  const here = boxes.findIndex((box) => row?.contains(box));
  event.preventDefault();
  boxes[Math.max(0, Math.min(boxes.length - 1, here + step))]?.focus();
}
