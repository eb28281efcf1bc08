// A tool call inside an answer: one line that says what was done, with the results below it.
import { Check, ChevronDown, CircleAlert, LoaderCircle } from 'lucide-react';
import { memo, useId, useState } from 'react';
import type { ToolCall } from '../chat/parts';
import { msg, t } from '../i18n';
import { ErrorBoundary } from '../ui/error-boundary';
import { took } from '../ui/format';
import { GenericBody } from './generic';
import { cardFor } from './index';
import { outcomeOf } from './outcome';
import { whatHappened } from './words';
import './card.css';

interface Props {
  call: ToolCall;
  /** The results are the main content of the answer, so they are shown expanded. */
  shown?: boolean;
  /** The results are from an earlier visit. */
  old?: boolean;
}

export const ToolCard = memo(function ToolCard({ call, shown = false, old = false }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const bodyId = useId();
  const card = cardFor(call);
  const canOpen = call.status === 'done' && call.output !== undefined;
  const open = canOpen && (chosen ?? shown);
  const Icon = card.icon;
  // A failed call keeps the title of a running one, because nothing was done.
  const title = card.title(call.input, call.status !== 'done');
  const outcome = outcomeOf(call);

  const head = (
    <>
      <Icon className="tool-icon" size={15} strokeWidth={1.9} aria-hidden />
      <span className="tool-words" dir="auto">
        <span className="tool-title">{title}</span>
        {outcome && <span> · {outcome}</span>}
        {call.error && <span className="tool-error">{whatHappened(call.error)}</span>}
      </span>
      <StatusMark status={call.status} />
      {canOpen && <ChevronDown className="tool-chevron" size={15} aria-hidden />}
      {call.durationMs !== undefined && <span className="tool-time">{took(call.durationMs)}</span>}
    </>
  );

  return (
    <div className="tool-card rise" role="group" data-status={call.status} data-open={open} aria-label={title}>
      {canOpen ? (
        <button
          type="button"
          className="tool-head"
          aria-expanded={open}
          aria-controls={open ? bodyId : undefined}
          onClick={() => setChosen(!open)}
        >
          {head}
        </button>
      ) : (
        <div className="tool-head">{head}</div>
      )}
      {open && call.output && (
        <div id={bodyId} className="tool-body">
          <ErrorBoundary fallback={<GenericBody output={call.output} input={call.input} />}>
            <card.Body output={call.output} input={call.input} old={old} />
          </ErrorBoundary>
        </div>
      )}
    </div>
  );
});

const MARKS = {
  running: { Mark: LoaderCircle, label: msg('Working'), className: 'spin' },
  done: { Mark: Check, label: msg('Done'), className: 'ok' },
  failed: { Mark: CircleAlert, label: msg('Failed'), className: 'failed' },
};

function StatusMark({ status }: { status: ToolCall['status'] }) {
  const { Mark, label, className } = MARKS[status];
  return (
    <span className="tool-status">
      <Mark size={14} className={className} aria-hidden />
      <span className="visually-hidden">{t(label)}</span>
    </span>
  );
}
