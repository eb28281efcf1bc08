// Where a person writes: Enter sends, Shift+Enter breaks the line, a running turn turns sending into queueing.
import { ArrowUp, Clock3, Square, X } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { t } from '../i18n';
import { rich } from '../i18n/rich';
import { keyName } from '../shell/shortcuts';
import { isComposing } from '../ui/keys';
import { useDraft } from './drafts';
import type { QueuedMessage, Refusal, Turn } from './reduce';
import { RefusalNotice } from './refusal';
import './composer.css';

const LONGEST = 10_000;

interface Props {
  /** What the unsent words are kept under, so that leaving the page does not lose them. */
  draftKey: string;
  placeholder: string;
  turn: Turn | null;
  queue: QueuedMessage[];
  refusal: Refusal | null;
  onSend: (text: string) => void;
  onStop: () => void;
  onUnqueue: (clientMessageId: string) => void;
  onSendNext: () => void;
  onExcuse: () => void;
  /** Which model answers, where there is a choice. */
  picker?: ReactNode;
  /** Given when there is a question to edit. */
  onEditLast?: () => void;
}

export function Composer(props: Props) {
  const { draftKey, placeholder, turn, queue, refusal, onSend, onStop, onUnqueue, onSendNext, onExcuse, onEditLast } = props;
  const [text, setText] = useDraft(draftKey);
  const area = useRef<HTMLTextAreaElement>(null);
  const words = text.trim();
  const tooLong = words.length > LONGEST;
  const canSend = words !== '' && !tooLong;
  const keys = { enter: <kbd>{keyName('Enter')}</kbd>, esc: <kbd>{keyName('Esc')}</kbd>, shift: <kbd>{keyName('Shift')}</kbd> };

  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  useEffect(() => {
    // On a phone the keyboard would cover half of what the person came to read.
    if (!window.matchMedia('(hover: hover)').matches) return;
    area.current?.focus();
    // Behind the words that are already there, where the next one belongs.
    area.current?.setSelectionRange(area.current.value.length, area.current.value.length);
  }, [draftKey]);

  const submit = () => {
    if (!canSend) return;
    onSend(words);
    setText('');
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // As in a terminal: with nothing written, up goes to what was said last.
    if (event.key === 'ArrowUp' && text === '' && onEditLast && !isComposing(event)) {
      event.preventDefault();
      return onEditLast();
    }
    // While an input method composes, Enter picks a word; it does not send.
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    submit();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {queue.length > 0 && <Queue queue={queue} idle={turn === null} onUnqueue={onUnqueue} onSendNext={onSendNext} />}
      {refusal && <RefusalNotice error={refusal.error} canSend={canSend} />}
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={text}
          placeholder={turn ? t('Write the next message…') : placeholder}
          aria-label={t('Message')}
          aria-describedby="composer-hint"
          aria-invalid={tooLong}
          onChange={(event) => {
            setText(event.target.value);
            if (refusal && event.target.value.trim() === '') onExcuse();
          }}
          onKeyDown={onKeyDown}
        />
        {props.picker}
        {turn && (
          <button
            type="button"
            className="send stop"
            aria-label={t('Stop')}
            title={t('Stop (Esc)')}
            disabled={turn.stopping}
            onClick={onStop}
          >
            <Square size={14} fill="currentColor" />
          </button>
        )}
        {(!turn || words !== '') && (
          <button type="submit" className="send" aria-label={turn ? t('Queue message') : t('Send message')} disabled={!canSend}>
            {turn ? <Clock3 size={18} /> : <ArrowUp size={19} />}
          </button>
        )}
      </div>
      <p className="composer-hint" id="composer-hint" data-bad={tooLong}>
        {tooLong
          ? t('{n} of at most {most} characters', { n: words.length, most: LONGEST })
          : turn
            ? rich('{enter} queues · {esc} stops', keys)
            : rich('{enter} sends · {shift} {enter} new line', keys)}
      </p>
    </form>
  );
}

interface QueueProps {
  queue: QueuedMessage[];
  idle: boolean;
  onUnqueue: (clientMessageId: string) => void;
  onSendNext: () => void;
}

function Queue({ queue, idle, onUnqueue, onSendNext }: QueueProps) {
  return (
    <ul className="queue" aria-label={t('Waiting to be sent')}>
      {queue.map(({ clientMessageId, text }, place) => (
        <li key={clientMessageId} className="rise">
          <Clock3 size={14} aria-hidden />
          <span dir="auto">{text}</span>
          {idle && place === 0 && (
            <button type="button" className="button small" onClick={onSendNext}>
              {t('Send now')}
            </button>
          )}
          <button
            type="button"
            className="icon-button small"
            aria-label={t('Do not send “{text}”', { text })}
            onClick={() => onUnqueue(clientMessageId)}
          >
            <X size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}
