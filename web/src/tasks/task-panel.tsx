// The to-do list: add, filter, and the rows. On its own page and beside a Tasks conversation.
import { ListTodo, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { useAddTask, useTasks } from '../api/queries';
import type { Task, TaskFilter } from '../api/types';
import { count } from '../ui/format';
import { Segments } from '../ui/segments';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toastError } from '../ui/toast';
import { TaskRow } from './task-row';
import './task-panel.css';

const FILTERS: { value: TaskFilter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'Open' },
  { value: 'completed', label: 'Done' },
];

export function TaskPanel() {
  const { data: tasks, error, refetch } = useTasks();
  const [filter, setFilter] = useState<TaskFilter>('all');
  const shown = tasks?.filter((task) => matches(task, filter));
  const open = tasks?.filter((task) => !task.completed).length;

  return (
    <div className="task-panel">
      <div className="task-panel-head">
        <Segments label="Show" value={filter} options={FILTERS} onChange={setFilter} />
        {open !== undefined && <span className="task-count">{open === 0 ? 'Nothing open' : `${count(open, 'task')} open`}</span>}
      </div>
      <AddTask />
      {error && !tasks && <Failed error={error} onRetry={() => void refetch()} />}
      {!tasks && !error && <SkeletonRows rows={4} height={44} label="Loading tasks" />}
      {shown && shown.length > 0 && (
        <ul className="task-list" aria-label="Tasks">
          {shown.map((task) => (
            <TaskRow key={task.id} task={task} />
          ))}
        </ul>
      )}
      {shown?.length === 0 && (
        <Empty icon={ListTodo} title={tasks?.length === 0 ? 'A clear day' : 'Nothing here'}>
          <p>{tasks?.length === 0 ? 'Add a task above, or tell the Tasks agent what is on your mind.' : 'No task matches this filter.'}</p>
        </Empty>
      )}
    </div>
  );
}

function matches(task: Task, filter: TaskFilter): boolean {
  return filter === 'all' || task.completed === (filter === 'completed');
}

function AddTask() {
  const [title, setTitle] = useState('');
  const add = useAddTask();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const words = title.trim();
    if (words === '') return;
    // The words leave the field only once the server has them.
    add.mutate({ title: words }, { onSuccess: () => setTitle(''), onError: toastError });
  };
  return (
    <form className="add-task" onSubmit={onSubmit}>
      <input
        className="field"
        aria-label="New task"
        placeholder="Add a task"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <button type="submit" className="icon-button" aria-label="Add task" disabled={title.trim() === '' || add.isPending}>
        <Plus size={19} />
      </button>
    </form>
  );
}
