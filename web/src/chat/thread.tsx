// The messages of one conversation, one under the other.
import { ArrowDown, Clock3 } from 'lucide-react';
import { useContext, useEffect, useMemo } from 'react';
import { t } from '../i18n';
import { AskAgainContext, type AskAgain } from './ask-again';
import { BranchContext } from './branches';
import { Message, Thinking } from './message';
import { useFollowScroll } from './follow-scroll';
import { FollowUps } from './follow-ups';
import { NamesContext } from './mentions';
import { namesIn } from './names';
import { textOf, type ChatMessage, type ChatState } from './reduce';

interface Props {
  state: ChatState;
  conversation: string;
  onRetry: (message: ChatMessage) => void;
  onGoOn: () => void;
  onAsk: (text: string) => void;
}

export function Thread({ state, conversation, onRetry, onGoOn, onAsk }: Props) {
  const { messages, turn } = state;
  const { box, content, atEnd, toEnd, toNewest, onScroll, release } = useFollowScroll(conversation, turn !== null);
  const shown = useMemo(() => messages.filter((message, index) => !isRepeat(messages, index, message)), [messages]);
  const justSent = turn !== null && turn.messageId === null;
  useEffect(() => {
    // A sent message is scrolled into view, wherever its author was reading.
    if (justSent) toNewest();
  }, [justSent, toNewest]);
  const last = shown.at(-1);
  const idle = turn === null;
  const again = useAskAgain(messages, idle);
  const finished = messages.reduce((n, { parts }) => n + parts.filter((part) => part.kind === 'tool' && part.call.output).length, 0);
  // Not at every word that arrives: the names change when a call has found something.
  const found = useMemo(() => namesIn(messages), [conversation, finished]);

  return (
    <div className="thread-frame">
      <div className="thread" ref={box} onScroll={onScroll} tabIndex={-1}>
        <div className="thread-inner" ref={content} onClickCapture={release}>
          <NamesContext value={found}>
            {shown.map((message) => (
              <AskAgainContext key={message.key ?? message.id} value={message === last ? again : null}>
                <Message
                  message={message}
                  onRetry={idle && message === last ? onRetry : undefined}
                  onGoOn={idle && message === last ? onGoOn : undefined}
                />
              </AskAgainContext>
            ))}
          </NamesContext>
          {idle && last?.role === 'assistant' && last.status === 'complete' && (
            <FollowUps message={last} words={again?.words} onAsk={onAsk} />
          )}
          {turn && !turn.messageId && (turn.connected ? <Thinking /> : <Unsent />)}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="icon-button to-end rise" aria-label={t('Jump to the latest')} onClick={toEnd}>
          <ArrowDown size={18} />
        </button>
      )}
    </div>
  );
}

/** Only for a question that the server has: its new version stands beside it. */
function useAskAgain(messages: ChatMessage[], idle: boolean): AskAgain | null {
  const branches = useContext(BranchContext);
  const question = messages.findLast((message) => message.role === 'user');
  return useMemo(
    () => (idle && branches && question?.stored ? { words: textOf(question), ask: (words) => branches.edit(question, words) } : null),
    [idle, branches, question],
  );
}

/** Nothing reached the server yet; it goes out by itself when there is a line again. */
function Unsent() {
  return (
    <p className="unsent" role="status">
      <Clock3 size={14} aria-hidden /> {t('Not sent yet. It is sent when the connection is back.')}
    </p>
  );
}

/** Trying again after an error says the same words once more: they are kept twice, but a person reads them once. */
export function isRepeat(messages: ChatMessage[], index: number, message: ChatMessage): boolean {
  if (message.role !== 'user' || message.error) return false;
  const failed = messages[index - 1];
  const question = messages.slice(0, index).findLast((earlier) => earlier.role === 'user');
  return failed?.role === 'assistant' && failed.status === 'error' && !!question && textOf(question) === textOf(message);
}
