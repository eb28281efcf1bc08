// A text that is changed where it is read: press, write, Enter. Escape leaves it as it was.
import { Pencil } from 'lucide-react';
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { t } from '../i18n';
import { isComposing, isEnter } from '../ui/keys';

interface Props {
  text: string;
  /** "Playlist title" */
  label: string;
  /** Shown where there is no text. */
  placeholder?: string;
  maxLength: number;
  /** May be empty, and may have several lines. */
  long?: boolean;
  onSave: (text: string) => void;
}

export function InPlace({ text, label, placeholder, maxLength, long = false, onSave }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);

  // The focus goes back to where the writing began.
  useLayoutEffect(() => {
    if (draft === null && wasOpen.current) button.current?.focus();
    wasOpen.current = draft !== null;
  }, [draft]);

  const save = () => {
    const words = (draft ?? text).trim();
    setDraft(null);
    if (words !== text && (long || words !== '')) onSave(words);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isEnter(event)) {
      event.preventDefault();
      save();
    }
    if (event.key !== 'Escape' || isComposing(event)) return;
    event.preventDefault();
    event.stopPropagation();
    setDraft(null);
  };

  if (draft === null) {
    return (
      <button
        ref={button}
        type="button"
        className={text === '' ? 'in-place empty' : 'in-place'}
        title={t('Edit: {label}', { label })}
        onClick={() => setDraft(text)}
      >
        <span dir="auto">{text || placeholder}</span> <Pencil size={14} aria-hidden />
      </button>
    );
  }
  const shared = {
    className: 'field in-place-field',
    'aria-label': label,
    dir: 'auto' as const,
    value: draft,
    maxLength,
    autoFocus: true,
    onChange: (event: { target: { value: string } }) => setDraft(event.target.value),
    onKeyDown,
    onBlur: save,
  };
  return long ? <textarea rows={2} {...shared} /> : <input {...shared} onFocus={(event) => event.target.select()} />;
}
