// What to ask next, one press away.
import { lazy, Suspense } from 'react';
import { t } from '../i18n';
import { emptySearch, followUps } from './found';
import type { ChatMessage } from './reduce';
import './follow-ups.css';

const NothingFits = lazy(() => import('./nothing-fits'));

interface Props {
  message: ChatMessage;
  /** The question of the message. */
  words?: string;
  onAsk: (text: string) => void;
}

export function FollowUps({ message, words = '', onAsk }: Props) {
  const suggestions = followUps(message);
  const empty = emptySearch(message);
  if (empty) {
    return (
      <Suspense>
        <NothingFits input={empty.input} words={words} onAsk={onAsk} />
      </Suspense>
    );
  }
  if (suggestions.length === 0) return null;
  return (
    <ul className="follow-ups" aria-label={t('Ask next')}>
      {suggestions.map((text) => (
        <li key={text}>
          <button type="button" className="button small" dir="auto" onClick={() => onAsk(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
