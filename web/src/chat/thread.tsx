// The messages of one conversation, one under the other.
import { ArrowDown } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { Message, Thinking } from './message';
import { useFollowScroll } from './follow-scroll';
import { textOf, type ChatMessage, type ChatState } from './reduce';

interface Props {
  state: ChatState;
  conversation: string;
  onRetry: (message: ChatMessage) => void;
  onGoOn: () => void;
}

export function Thread({ state, conversation, onRetry, onGoOn }: Props) {
  const { messages, turn } = state;
  const { box, content, atEnd, toEnd, onScroll, release } = useFollowScroll(conversation, turn !== null);
  const shown = useMemo(() => messages.filter((message, index) => !isRepeat(messages, index, message)), [messages]);
  const justSent = turn !== null && turn.messageId === null;
  useEffect(() => {
    // Whoever sends something wants to see it, wherever they were reading.
    if (justSent) toEnd();
  }, [justSent, toEnd]);
  const last = shown.at(-1);
  const canRetry = turn === null && last?.error?.retryable;

  return (
    <div className="thread-frame">
      <div className="thread" ref={box} onScroll={onScroll} tabIndex={-1}>
        <div className="thread-inner" ref={content} onClickCapture={release}>
          {shown.map((message) => (
            <Message
              key={message.id}
              message={message}
              onRetry={canRetry && message === last ? onRetry : undefined}
              onGoOn={turn === null && message === last ? onGoOn : undefined}
            />
          ))}
          {turn && !turn.messageId && <Thinking />}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="icon-button to-end rise" aria-label="Jump to the latest" onClick={toEnd}>
          <ArrowDown size={18} />
        </button>
      )}
    </div>
  );
}

/** Trying again after an error says the same words once more: they are kept twice, but a person reads them once. */
export function isRepeat(messages: ChatMessage[], index: number, message: ChatMessage): boolean {
  if (message.role !== 'user' || message.error) return false;
  const failed = messages[index - 1];
  const question = messages.slice(0, index).findLast((earlier) => earlier.role === 'user');
  return failed?.role === 'assistant' && failed.status === 'error' && !!question && textOf(question) === textOf(message);
}
