// What a search understood as a limit, each with a way to search again without it.
import { X } from 'lucide-react';
import { t } from '../i18n';
import { limitLabel } from './limit-label';
import { distinctLimits, withoutLimit, type AppliedLimit } from './without-limit';
import './applied-limits.css';

interface Props {
  query: string;
  applied: AppliedLimit[];
  /** The words that were asked, and how to ask others; absent where a limit cannot be removed. */
  again?: { words: string; ask: (words: string) => void } | null;
}

export function AppliedLimits({ query, applied, again }: Props) {
  if (applied.length === 0) return null;
  return (
    <ul className="limits" aria-label={t('Limits of this search')}>
      {distinctLimits(applied).map((limit) => {
        const label = limitLabel(limit.label);
        const words = again ? withoutLimit(again.words, query, applied, limit) : null;
        return (
          <li key={limit.label}>
            {!again || words === null ? (
              <span className="limit" dir="auto">
                {label}
              </span>
            ) : (
              <button
                type="button"
                className="limit"
                aria-label={t('Search again without the limit {limit}', { limit: label })}
                title={t('Search again: {words}', { words })}
                onClick={() => again.ask(words)}
              >
                <span dir="auto">{label}</span> <X size={13} aria-hidden />
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
