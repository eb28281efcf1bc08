// Versions of a question or an answer: ‹ 2/3 › goes from one to the next. The server remembers which one is shown.
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { createContext, useContext } from 'react';
import { msg, t } from '../i18n';
import type { ChatMessage } from './reduce';
import './branches.css';

export interface BranchActions {
  /** False while a turn runs: nothing can be changed under it. */
  idle: boolean;
  choose: (messageId: string) => void;
  edit: (question: ChatMessage, text: string) => void;
  regenerate: (answer: ChatMessage) => void;
  /** The question that is being edited. */
  editing: string | null;
  setEditing: (messageId: string | null) => void;
}

export const BranchContext = createContext<BranchActions | null>(null);

export const useBranches = () => useContext(BranchContext);

const QUESTION = {
  all: msg('Versions of this question'),
  earlier: msg('Earlier version of this question'),
  later: msg('Later version of this question'),
};
const ANSWER = {
  all: msg('Versions of this answer'),
  earlier: msg('Earlier version of this answer'),
  later: msg('Later version of this answer'),
};

export function BranchSwitch({ message }: { message: ChatMessage }) {
  const branches = useBranches();
  const { siblings } = message;
  if (!siblings || siblings.count < 2 || !branches) return null;
  const { index, count, ids } = siblings;
  const words = message.role === 'user' ? QUESTION : ANSWER;
  const step = (by: number) => {
    const id = ids[index + by];
    if (id) branches.choose(id);
  };
  return (
    <span className="branch-switch" role="group" aria-label={t(words.all)}>
      <button
        type="button"
        className="icon-button small"
        aria-label={t(words.earlier)}
        disabled={!branches.idle || index === 0}
        onClick={() => step(-1)}
      >
        <ChevronLeft size={16} />
      </button>
      <span className="branch-place">
        {/* Read as words: a slash is silent in many voices. */}
        <span aria-hidden>
          {index + 1}/{count}
        </span>
        <span className="visually-hidden">{t('{n} of {all}', { n: index + 1, all: count })}</span>
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label={t(words.later)}
        disabled={!branches.idle || index === count - 1}
        onClick={() => step(1)}
      >
        <ChevronRight size={16} />
      </button>
    </span>
  );
}
