// Versions of a question or an answer: ‹ 2/3 › goes from one to the next. The server remembers which one is shown.
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { createContext, useContext } from 'react';
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

export function BranchSwitch({ message }: { message: ChatMessage }) {
  const branches = useBranches();
  const { siblings } = message;
  if (!siblings || siblings.count < 2 || !branches) return null;
  const { index, count, ids } = siblings;
  const what = message.role === 'user' ? 'question' : 'answer';
  const step = (by: number) => {
    const id = ids[index + by];
    if (id) branches.choose(id);
  };
  return (
    <span className="branch-switch" role="group" aria-label={`Versions of this ${what}`}>
      <button
        type="button"
        className="icon-button small"
        aria-label={`Earlier version of this ${what}`}
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
        <span className="visually-hidden">
          {index + 1} of {count}
        </span>
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label={`Later version of this ${what}`}
        disabled={!branches.idle || index === count - 1}
        onClick={() => step(1)}
      >
        <ChevronRight size={16} />
      </button>
    </span>
  );
}
