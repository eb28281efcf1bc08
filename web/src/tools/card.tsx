// The frame around every tool call: what it is doing, how it went, and the door to its results.
import { Check, ChevronDown, CircleAlert, LoaderCircle } from 'lucide-react';
import { memo, useId, useState } from 'react';
import { countResults, type ToolCall } from '../chat/reduce';
import { ErrorBoundary } from '../ui/error-boundary';
import { count, took } from '../ui/format';
import { GenericBody } from './generic';
import { cardFor } from './index';
import './card.css';

export const ToolCard = memo(function ToolCard({ call }: { call: ToolCall }) {
  const [open, setOpen] = useState(false);
  const bodyId = useId();
  const card = cardFor(call.name);
  const canOpen = call.status === 'done' && call.output !== undefined;
  const Icon = card.icon;
  // What failed was not done: it keeps the words of trying.
  const title = card.title(call.input, call.status !== 'done');

  const head = (
    <>
      <span className="tool-icon" aria-hidden="true">
        <Icon size={17} strokeWidth={1.8} />
      </span>
      <span className="tool-words">
        <span className="tool-title">{title}</span>
        {call.summary && call.summary !== title && <span className="tool-summary">{call.summary}</span>}
        {call.error && <span className="tool-error">{whatHappened(call.error)}</span>}
      </span>
      <Facts call={call} />
      <StatusMark status={call.status} />
      {canOpen && <ChevronDown className="tool-chevron" size={17} aria-hidden />}
    </>
  );

  return (
    <section className="tool-card rise" data-status={call.status} data-open={open} aria-label={title}>
      {canOpen ? (
        <button
          type="button"
          className="tool-head"
          aria-expanded={open}
          aria-controls={open ? bodyId : undefined}
          onClick={() => setOpen(!open)}
        >
          {head}
        </button>
      ) : (
        <div className="tool-head">{head}</div>
      )}
      {open && call.output && (
        <div id={bodyId} className="tool-body">
          <ErrorBoundary fallback={<GenericBody output={call.output} input={call.input} />}>
            <card.Body output={call.output} input={call.input} />
          </ErrorBoundary>
        </div>
      )}
    </section>
  );
});

function Facts({ call }: { call: ToolCall }) {
  const results = countResults(call.output);
  if (results === 0 && call.durationMs === undefined) return null;
  return (
    <span className="tool-facts">
      {results > 0 && <span className="chip">{count(results, 'result')}</span>}
      {call.durationMs !== undefined && <span className="tool-time">{took(call.durationMs)}</span>}
    </span>
  );
}

const MARKS = {
  running: { Mark: LoaderCircle, label: 'Working', className: 'spin' },
  done: { Mark: Check, label: 'Done', className: 'ok' },
  failed: { Mark: CircleAlert, label: 'Failed', className: 'failed' },
};

function StatusMark({ status }: { status: ToolCall['status'] }) {
  const { Mark, label, className } = MARKS[status];
  return (
    <span className="tool-status">
      <Mark size={16} className={className} aria-hidden />
      <span className="visually-hidden">{label}</span>
    </span>
  );
}

/** The server's own sentence, then what was and will be done about it. */
export function whatHappened({ message, retryable, wasRetried }: NonNullable<ToolCall['error']>): string {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  if (message === 'Interrupted') return sentence;
  const tried = wasRetried ? ' Tried twice.' : '';
  const next = retryable ? ' The agent goes on without it and may try again later.' : ' The agent goes on without it.';
  return sentence + tried + next;
}
