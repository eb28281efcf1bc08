// The field for new tasks: one line is one task, a pasted list is several.
import { Plus } from 'lucide-react';
import { useState, type ClipboardEvent, type FormEvent } from 'react';
import { useAddTask, useDeleteTask } from '../api/task-queries';
import type { Task } from '../api/types';
import { plural, t } from '../i18n';
import { say } from '../ui/live-region';
import { toast, toastError } from '../ui/toast';
import { asTask, linesOf, LONGEST_TEXT, LONGEST_TITLE } from './new-tasks';

export function AddTask({ onAdded }: { onAdded: (ids: string[]) => void }) {
  const [text, setText] = useState('');
  const add = useAddTask();
  const deletion = useDeleteTask();
  const words = text.trim();
  const tooLong = words.length > LONGEST_TEXT;

  const addAll = async (lines: string[]) => {
    const added: Task[] = [];
    try {
      for (const line of lines) added.push((await add.mutateAsync(asTask(line))) as Task);
    } catch (error) {
      toastError(error);
    }
    if (added.length > 0) onAdded(added.map(({ id }) => id));
    return added;
  };
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    if (words === '' || tooLong || add.isPending) return;
    const [task] = await addAll([words]);
    if (!task) return;
    // The words leave the field only once the server has them.
    setText('');
    say(t('Added “{title}”', { title: task.title }));
  };
  const onPaste = async (event: ClipboardEvent) => {
    const lines = linesOf(event.clipboardData.getData('text'));
    if (lines.length < 2) return;
    event.preventDefault();
    const added = await addAll(lines.map((line) => line.slice(0, LONGEST_TEXT)));
    if (added.length === 0) return;
    toast(plural(added.length, 'Added {n} task', 'Added {n} tasks'), {
      undo: () => Promise.all(added.map(({ id }) => deletion.mutateAsync(id))),
    });
  };

  return (
    <form className="add-task" onSubmit={(event) => void onSubmit(event)}>
      <input
        className="field"
        aria-label={t('New task')}
        aria-describedby="add-task-hint"
        aria-invalid={tooLong}
        dir="auto"
        placeholder={t('Add a task')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => void onPaste(event)}
      />
      <button type="submit" className="icon-button" aria-label={t('Add task')} disabled={words === '' || tooLong || add.isPending}>
        <Plus size={19} />
      </button>
      <p className="add-task-hint" id="add-task-hint" data-bad={tooLong}>
        {tooLong && t('{n} of at most {most} characters', { n: words.length, most: LONGEST_TEXT })}
        {!tooLong && words.length > LONGEST_TITLE && t('Long for a title: the whole text is kept in the description.')}
      </p>
    </form>
  );
}
