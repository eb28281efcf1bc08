// What to ask next, one press away.
import { t } from '../i18n';
import { followUps } from './found';
import type { ChatMessage } from './reduce';
import './follow-ups.css';

export function FollowUps({ message, onAsk }: { message: ChatMessage; onAsk: (text: string) => void }) {
  const suggestions = followUps(message);
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
