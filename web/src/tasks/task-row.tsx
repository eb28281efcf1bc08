// One task: check it, change its words in place, delete it and take that back.
import { Check, Pencil, Trash2, Undo2 } from 'lucide-react';
import { useRef, useState, type HTMLAttributes, type KeyboardEvent, type ReactNode } from 'react';
import { useDeleteTask, useRestoreTask, useUpdateTask } from '../api/task-queries';
import type { Task } from '../api/types';
import { t } from '../i18n';
import { isComposing, isEnter, isTyping, withCommand } from '../ui/keys';
import { toastError, toastWhen } from '../ui/toast';
import './task-row.css';

interface Props {
  task: Task;
  /** It was deleted since: shown as it was, with the way back. */
  gone?: boolean;
  compact?: boolean;
  /** Just added: marked for a moment. */
  isNew?: boolean;
  /** Where the row is part of a list that can be arranged. */
  arranged?: { handle: ReactNode; row: HTMLAttributes<HTMLLIElement> & { 'data-item': string } };
}

export function TaskRow({ task, gone = false, compact = false, isNew = false, arranged }: Props) {
  const [editing, setEditing] = useState(false);
  const update = useUpdateTask();
  const deletion = useDeleteTask();
  const restore = useRestoreTask();
  const editButton = useRef<HTMLButtonElement>(null);

  const set = (completed: boolean) => update.mutateAsync({ id: task.id, completed });
  const toggle = () => {
    const completed = !task.completed;
    // It leaves this list for the other one: say so, with the way back.
    const text = completed ? t('Done: “{title}”', { title: task.title }) : t('Open again: “{title}”', { title: task.title });
    toastWhen(set(completed), text, () => set(!completed));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (gone || isTyping(event.target) || withCommand(event.nativeEvent)) return;
    if (event.key === 'e' || event.key === 'F2') setEditing(true);
    else if (event.key === 'Delete' || event.key === 'Backspace') remove();
    else return;
    event.preventDefault();
  };
  // A promise, not a callback of `mutate`: those are dropped once the row is gone, and deleting makes it go.
  const remove = () =>
    toastWhen(deletion.mutateAsync(task.id), t('Deleted “{title}”', { title: task.title }), () => restore.mutateAsync(task.id));
  const stopEditing = () => {
    setEditing(false);
    queueMicrotask(() => editButton.current?.focus());
  };

  if (editing) return <TaskEditor task={task} onDone={stopEditing} />;
  return (
    <li
      className={compact ? 'task compact' : 'task'}
      data-done={task.completed}
      data-gone={gone}
      data-new={isNew}
      {...arranged?.row}
      onKeyDown={onKeyDown}
    >
      <button
        type="button"
        role="checkbox"
        className="task-check"
        aria-checked={task.completed}
        aria-label={task.title}
        aria-keyshortcuts="e Delete"
        disabled={gone}
        onClick={toggle}
      >
        {task.completed && <Check size={14} strokeWidth={3} aria-hidden />}
      </button>
      {arranged?.handle}
      <div className="task-words" onDoubleClick={() => !gone && setEditing(true)}>
        <span className="task-title" dir="auto">
          {task.title}
        </span>
        {task.description && (
          <span className="task-description" dir="auto">
            {task.description}
          </span>
        )}
      </div>
      {gone ? (
        <>
          <span className="chip">{t('Deleted')}</span>
          <button
            type="button"
            className="button small"
            aria-label={t('Bring back {title}', { title: task.title })}
            onClick={() => restore.mutate(task.id, { onError: toastError })}
          >
            <Undo2 size={14} aria-hidden /> {t('Bring back')}
          </button>
        </>
      ) : (
        <div className="task-actions">
          <button
            ref={editButton}
            type="button"
            className="icon-button small"
            aria-label={t('Edit {title}', { title: task.title })}
            onClick={() => setEditing(true)}
          >
            <Pencil size={15} />
          </button>
          <button type="button" className="icon-button small" aria-label={t('Delete {title}', { title: task.title })} onClick={remove}>
            <Trash2 size={15} />
          </button>
        </div>
      )}
    </li>
  );
}

function TaskEditor({ task, onDone }: { task: Task; onDone: () => void }) {
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description ?? '');
  const update = useUpdateTask();

  const save = () => {
    const words = title.trim();
    if (words === '') return;
    const changed = words !== task.title || description !== (task.description ?? '');
    if (changed) update.mutateAsync({ id: task.id, title: words, description }).catch(toastError);
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !isComposing(event)) {
      event.stopPropagation();
      onDone();
    }
    // In a field Enter saves; on a button it presses that button.
    if (isEnter(event) && isTyping(event.target)) {
      event.preventDefault();
      save();
    }
  };

  return (
    <li className="task editing" onKeyDown={onKeyDown}>
      <div className="task-fields">
        <input
          className="field"
          aria-label={t('Title')}
          dir="auto"
          value={title}
          maxLength={200}
          autoFocus
          onChange={(event) => setTitle(event.target.value)}
        />
        <textarea
          className="field"
          aria-label={t('Description')}
          dir="auto"
          placeholder={t('Description')}
          rows={2}
          maxLength={2000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <div className="task-editing">
          <button type="button" className="button small primary" onClick={save} disabled={title.trim() === ''}>
            {t('Save')}
          </button>
          <button type="button" className="button small quiet" onClick={onDone}>
            {t('Cancel')}
          </button>
        </div>
      </div>
    </li>
  );
}
