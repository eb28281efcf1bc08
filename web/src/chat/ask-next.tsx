// Questions that one press asks.
import { X } from 'lucide-react';
import { t } from '../i18n';
import './ask-next.css';

export interface Chip {
  /** What is asked. */
  text: string;
  /** The limit that this question leaves out; it is what the chip says. */
  without?: string;
}

export function AskNext({ chips, onAsk }: { chips: Chip[]; onAsk: (text: string) => void }) {
  if (chips.length === 0) return null;
  return (
    <ul className="ask-next" aria-label={t('Ask next')}>
      {chips.map(({ text, without }) => (
        <li key={without ?? text}>
          <button
            type="button"
            className="button small"
            dir="auto"
            title={without && t('Search again: {words}', { words: text })}
            onClick={() => onAsk(text)}
          >
            {without ? (
              <>
                <X size={13} aria-hidden /> {t('Search without “{limit}”', { limit: without })}
              </>
            ) : (
              text
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
