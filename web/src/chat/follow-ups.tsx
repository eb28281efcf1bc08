// What to ask next, one press away.
import { lazy, Suspense } from 'react';
import { AskNext } from './ask-next';
import { emptySearch, followUps } from './found';
import type { ChatMessage } from './reduce';

const NothingFits = lazy(() => import('./nothing-fits'));

interface Props {
  message: ChatMessage;
  /** The question of the message. */
  words?: string;
  onAsk: (text: string) => void;
}

export function FollowUps({ message, words = '', onAsk }: Props) {
  const empty = emptySearch(message);
  if (empty) {
    return (
      <Suspense>
        <NothingFits input={empty.input} words={words} onAsk={onAsk} />
      </Suspense>
    );
  }
  return <AskNext chips={followUps(message).map((text) => ({ text }))} onAsk={onAsk} />;
}
