// The five task tools: an interactive checklist, synchronised with the tasks page.
import { ListChecks, ListTodo, PencilLine, SquareCheckBig, Trash2 } from 'lucide-react';
import { useTasks } from '../api/task-queries';
import type { DeleteTaskOutput, Task } from '../api/types';
import type { ToolCall } from '../chat/parts';
import { t } from '../i18n';
import { TaskRow } from '../tasks/task-row';
import { field, quoted, type BodyProps, type CardSpec } from './spec';
import './tasks.css';

export const addTask: CardSpec = {
  icon: ListTodo,
  title: (input, running) => {
    const title = quoted(field(input, 'title'));
    if (field(input, 'title') === '') return running ? t('Adding a task') : t('Added a task');
    return running ? t('Adding {title}', { title }) : t('Added {title}', { title });
  },
  outcome: () => '',
  changes: ['tasks'],
  tasks: oneTask,
  Body: OneTask,
};

export const listTasks: CardSpec = {
  icon: ListChecks,
  counts: true,
  title: (input, running) => {
    const filter = field(input, 'filter');
    if (filter === 'pending') return running ? t('Reading your open tasks') : t('Read your open tasks');
    if (filter === 'completed') return running ? t('Reading your finished tasks') : t('Read your finished tasks');
    return running ? t('Reading your tasks') : t('Read your tasks');
  },
  tasks: (output) => output.tasks as Task[],
  Body: ({ output }) => <Checklist tasks={output.tasks as Task[]} />,
};

export const completeTask: CardSpec = {
  icon: SquareCheckBig,
  title: (_input, running) => (running ? t('Completing a task') : t('Completed a task')),
  outcome: nameOfTask,
  changes: ['tasks'],
  tasks: oneTask,
  Body: OneTask,
};

export const updateTask: CardSpec = {
  icon: PencilLine,
  title: (_input, running) => (running ? t('Changing a task') : t('Changed a task')),
  outcome: nameOfTask,
  changes: ['tasks'],
  tasks: oneTask,
  Body: OneTask,
};

export const deleteTask: CardSpec = {
  icon: Trash2,
  title: (_input, running) => (running ? t('Deleting a task') : t('Deleted a task')),
  outcome: nameOfTask,
  changes: ['tasks'],
  staysClosed: true,
  Body: DeletedTask,
};

function oneTask(output: Record<string, unknown>): Task[] {
  return output.title ? [output as unknown as Task] : [];
}

function nameOfTask({ output }: ToolCall): string {
  const title = field(output?.task ?? output, 'title');
  return title === '' ? '' : quoted(title);
}

function OneTask({ output }: BodyProps) {
  const task = (output.task ?? output) as Partial<Task>;
  if (!task.id || !task.title) return <p className="tool-note">{String(output.message ?? t('Done.'))}</p>;
  return <Checklist tasks={[task as Task]} />;
}

/** The deleted task is only available in the output; it shows what an undo would restore. */
function DeletedTask({ output }: BodyProps) {
  const { task_id: id, title } = output as unknown as DeleteTaskOutput;
  return <Checklist tasks={[{ id, title, description: '', completed: false, createdAt: '', updatedAt: '' }]} />;
}

/** Existing tasks in their current state, deleted ones as they were at the time of the call. */
function Checklist({ tasks }: { tasks: Task[] }) {
  const { data: current } = useTasks();
  return (
    <ul className="checklist">
      {tasks.map((then) => {
        const now = current?.find((task) => task.id === then.id);
        const gone = current !== undefined && now === undefined;
        return <TaskRow key={then.id} task={now ?? then} gone={gone} compact />;
      })}
    </ul>
  );
}
