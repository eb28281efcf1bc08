// What a person asked: read it, when it was asked, edit it and ask again. The earlier version stays one step away.
import { Pencil } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { t } from '../i18n';
import { CopyButton } from '../ui/copy';
import { fullMoment, moment } from '../ui/format';
import { isComposing, isEnter } from '../ui/keys';
import { BranchSwitch, useBranches } from './branches';
import { textOf, type ChatMessage } from './reduce';

const LONGEST = 10_000;

export function Question({ message }: { message: ChatMessage }) {
  const branches = useBranches();
  const pencil = useRef<HTMLButtonElement>(null);
  const text = textOf(message);
  const canEdit = branches?.idle === true && message.stored === true;

  if (branches && canEdit && branches.editing === message.id) {
    const close = () => {
      branches.setEditing(null);
      // Where the person was: the pencil exists again after the next paint.
      requestAnimationFrame(() => pencil.current?.focus());
    };
    return (
      <article className="message user" aria-label={t('You')}>
        <EditQuestion text={text} onCancel={close} onAsk={(words) => branches.edit(message, words)} />
      </article>
    );
  }
  return (
    <article className="message user" aria-label={t('You')}>
      <div className="bubble" dir="auto" title={message.at && moment(message.at)}>
        {text}
      </div>
      <footer className="question-foot">
        {message.at && (
          <time className="message-time quiet-until-near" dateTime={message.at} title={fullMoment(message.at)}>
            {moment(message.at)}
          </time>
        )}
        <span className="quiet-until-near">
          <CopyButton text={text} label={t('Copy question')} />
        </span>
        {canEdit && (
          <button
            ref={pencil}
            type="button"
            className="icon-button small quiet-until-near"
            aria-label={t('Edit question')}
            title={t('Edit and ask again')}
            onClick={() => branches.setEditing(message.id)}
          >
            <Pencil size={15} />
          </button>
        )}
        <BranchSwitch message={message} />
      </footer>
    </article>
  );
}

interface EditProps {
  text: string;
  onCancel: () => void;
  onAsk: (words: string) => void;
}

function EditQuestion({ text, onCancel, onAsk }: EditProps) {
  const [words, setWords] = useState(text);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, [text]);
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [words]);
  const trimmed = words.trim();
  const tooLong = trimmed.length > LONGEST;
  const canAsk = trimmed !== '' && !tooLong;
  const ask = () => {
    if (canAsk) onAsk(trimmed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isEnter(event)) {
      event.preventDefault();
      ask();
    }
    if (event.key !== 'Escape' || isComposing(event)) return;
    event.preventDefault();
    event.stopPropagation();
    onCancel();
  };
  return (
    <form
      className="question-edit"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        ref={area}
        rows={1}
        dir="auto"
        aria-label={t('Edit your question')}
        aria-describedby="question-edit-note"
        aria-invalid={tooLong}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="actions">
        <span className="note" id="question-edit-note">
          {tooLong ? t('{n} of at most {most} characters', { n: trimmed.length, most: LONGEST }) : t('The earlier version is kept.')}
        </span>
        <button type="button" className="button small" onClick={onCancel}>
          {t('Cancel')}
        </button>
        <button type="submit" className="button small primary" disabled={!canAsk}>
          {t('Ask again')}
        </button>
      </div>
    </form>
  );
}
