// A modal dialog. It uses the browser's dialog element, which handles focus, Escape and the inert page.
import { X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { t } from '../i18n';
import { entered } from './top-dialog';
import './dialog.css';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** `sheet` slides in from the left and fills the height: the drawer on small screens. */
  shape?: 'card' | 'sheet';
  hideTitle?: boolean;
}

export function Dialog({ title, onClose, children, shape = 'card', hideTitle = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  // A layout effect: the dialog must close before its element is removed, so that the browser restores the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    dialog.showModal();
    // React's `autoFocus` runs too early: the dialog is not open then, and opening it moves the focus.
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    const left = entered(dialog);
    return () => {
      left();
      dialog.close();
    };
  }, []);

  return (
    <dialog
      ref={ref}
      className={`dialog ${shape}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A press on the backdrop targets the dialog element itself; everything inside is a child.
      onPointerDown={(event) => event.target === ref.current && onClose()}
    >
      <div className="dialog-body">
        <header className={hideTitle ? 'dialog-head bare' : 'dialog-head'}>
          <h2 id={titleId} className={hideTitle ? 'visually-hidden' : undefined}>
            {title}
          </h2>
          <button type="button" className="icon-button" aria-label={t('Close')} onClick={onClose}>
            <X size={18} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
