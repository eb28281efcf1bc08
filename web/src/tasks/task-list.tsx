// One list of tasks, arranged by dragging or with Alt and the arrow keys.
import { GripVertical } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { useMoveTask } from '../api/task-queries';
import type { Task } from '../api/types';
import { t } from '../i18n';
import { drag, marks, placeAt, type Dragging } from '../ui/arrange';
import { isTyping } from '../ui/keys';
import { say } from '../ui/live-region';
import { canUndo, toast, toastError } from '../ui/toast';
import { placeOf } from './place';
import { TaskRow } from './task-row';

interface Props {
  label: string;
  tasks: Task[];
  /** The newest: brought into view and marked for a moment, because the list may be long. */
  added: string[];
  /** Brought into view, marked and focused: a link led to it. */
  wanted?: string | null;
}

export function TaskList({ label, tasks, added, wanted = null }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const [dragging, setDragging] = useState<Dragging | null>(null);
  const { step, move } = useMoves(tasks, list);
  const newest = added.at(-1);
  const isHere = tasks.some(({ id }) => id === newest);
  useEffect(() => {
    if (newest && isHere) list.current?.querySelector('[data-new="true"]:last-of-type')?.scrollIntoView({ block: 'nearest' });
  }, [newest, isHere]);
  const isWantedHere = tasks.some(({ id }) => id === wanted);
  useEffect(() => {
    if (!isWantedHere) return;
    const row = list.current?.querySelector<HTMLElement>(`[data-item="${wanted}"]`);
    row?.scrollIntoView({ block: 'center' });
    row?.querySelector<HTMLElement>('.task-check')?.focus({ preventScroll: true });
  }, [wanted, isWantedHere]);

  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || isTyping(event.target)) return;
    const row = (event.target as Element).closest<HTMLElement>('li');
    event.preventDefault();
    if (event.altKey && row?.dataset.item) step(row.dataset.item, by);
    else if (!event.altKey) focusNext(event.currentTarget, row, by);
  };
  const onPointerDown = (id: string) => (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    drag(id, placeAt(list.current, id), setDragging, (to) => move(id, to, true));
  };
  const ids = tasks.map(({ id }) => id);

  return (
    <ul className="task-list" aria-label={label} ref={list} onKeyDown={onKeyDown} data-dragging={dragging !== null}>
      {tasks.map((task, row) => (
        <TaskRow
          key={task.id}
          task={task}
          isNew={added.includes(task.id) || task.id === wanted}
          arranged={{
            handle: tasks.length > 1 && (
              <button
                type="button"
                className="task-drag"
                aria-label={t('Move {title}', { title: task.title })}
                aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
                title={t('Drag, or press Alt + ↑ or ↓')}
                onPointerDown={onPointerDown(task.id)}
              >
                <GripVertical size={15} />
              </button>
            ),
            row: { 'data-item': task.id, ...marks(dragging, ids, row) },
          }}
        />
      ))}
    </ul>
  );
}

/** Moves that are shown at once, announced, and can be taken back. */
function useMoves(tasks: Task[], list: React.RefObject<HTMLUListElement | null>) {
  const { mutateAsync } = useMoveTask();
  const focused = useRef<{ id: string; control: string } | null>(null);
  // A row that moves loses the focus.
  useLayoutEffect(() => {
    if (!focused.current) return;
    const { id, control } = focused.current;
    list.current?.querySelector<HTMLElement>(`[data-item="${id}"] .${control}`)?.focus();
    focused.current = null;
  });

  const move = (id: string, to: number, withToast: boolean) => {
    const place = placeOf(tasks, id, to);
    const from = tasks.findIndex((task) => task.id === id);
    const task = tasks[from];
    if (!place || !task) return;
    const back = from > 0 ? { after: tasks[from - 1]!.id } : { before: tasks[1]!.id };
    const n = Math.max(0, Math.min(tasks.length - 1, to)) + 1;
    say(t('“{title}” is number {n} of {all}', { title: task.title, n, all: tasks.length }));
    const sent = mutateAsync({ id, place });
    sent.catch(toastError);
    // At once: Ctrl Z may come before the server has answered.
    const undo = () => sent.then(() => mutateAsync({ id, place: back }));
    if (withToast) toast(t('Moved “{title}”', { title: task.title }), { undo });
    else canUndo(t('moving “{title}”', { title: task.title }), undo);
  };
  const step = (id: string, by: number) => {
    const control = document.activeElement?.classList.contains('task-drag') ? 'task-drag' : 'task-check';
    focused.current = { id, control };
    move(id, tasks.findIndex((task) => task.id === id) + by, false);
  };
  return { move, step };
}

/** Arrow keys go from check box to check box. */
function focusNext(list: HTMLElement, row: Element | null, by: number): void {
  const boxes = [...list.querySelectorAll<HTMLElement>('[role="checkbox"]')];
  const here = boxes.findIndex((box) => row?.contains(box));
  boxes[Math.max(0, Math.min(boxes.length - 1, here + by))]?.focus();
}
