// The to-do list: what is open first, what is done folded below. On its own page and beside a Tasks conversation.
import { ListTodo } from 'lucide-react';
import { useState } from 'react';
import { useTasks } from '../api/task-queries';
import { count } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { AddTask } from './add-task';
import { TaskList } from './task-list';
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
      {!tasks && !error && <SkeletonRows rows={4} height={44} label="Loading tasks" />}
      {open.length > 0 && (
        <section>
          <h2 className="task-heading">{count(open.length, 'task')} open</h2>
          <TaskList label="Tasks" tasks={open} added={added} />
        </section>
      )}
      {tasks && open.length === 0 && (
        <Empty icon={ListTodo} title={done.length === 0 ? 'A clear day' : 'All done'}>
          <p>Add a task above, or tell the Tasks agent what is on your mind.</p>
        </Empty>
      )}
      {done.length > 0 && (
        <details className="task-done">
          <summary className="task-heading">Done ({done.length.toLocaleString('en')})</summary>
          <TaskList label="Done tasks" tasks={done} added={[]} />
        </details>
      )}
    </div>
  );
}

export default TaskPanel;
