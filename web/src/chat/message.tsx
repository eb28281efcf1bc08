// One message of a conversation: the words, the work between them, how it ended.
import { CircleAlert, Footprints, OctagonPause, RotateCcw } from 'lucide-react';
import { memo } from 'react';
import { CopyButton } from '../ui/copy';
import { ToolCard } from '../tools/card';
import { Markdown } from './markdown';
import { textOf, type ChatMessage, type Part } from './reduce';
import './message.css';

interface Props {
  message: ChatMessage;
  /** Given while trying again makes sense: only for the last message of an idle conversation. */
  onRetry?: (message: ChatMessage) => void;
  /** Given for the last answer, when it ended before it was done. */
  onGoOn?: () => void;
}

export const Message = memo(function Message(props: Props) {
  return props.message.role === 'user' ? <UserMessage {...props} /> : <Answer {...props} />;
});

function UserMessage({ message, onRetry }: Props) {
  return (
    <article className="message user" aria-label="You">
      <div className="bubble">{textOf(message)}</div>
      {message.error && <TurnProblem message={message} onRetry={onRetry} />}
    </article>
  );
}

function Answer({ message, onRetry, onGoOn }: Props) {
  const running = message.status === 'running';
  const waiting = running && message.parts.length === 0;
  return (
    <article className="message answer" aria-label="Segue" aria-busy={running}>
      {message.parts.map((part, index) => (
        <PartView key={part.kind === 'tool' ? part.call.id : index} part={part} />
      ))}
      {waiting && <Thinking />}
      {message.status === 'stopped' && (
        <p className="ending">
          <OctagonPause size={14} aria-hidden /> Stopped
        </p>
      )}
      {message.status === 'max_steps' && (
        <p className="ending">
          <Footprints size={14} aria-hidden /> That was as many steps as one answer may take.
          {onGoOn && (
            <button type="button" className="button small" onClick={onGoOn}>
              Go on
            </button>
          )}
        </p>
      )}
      {message.error && <TurnProblem message={message} onRetry={onRetry} />}
      {!running && <Footer message={message} />}
    </article>
  );
}

const PartView = memo(function PartView({ part }: { part: Part }) {
  return part.kind === 'text' ? <Markdown text={part.text} /> : <ToolCard call={part.call} />;
});

export function Thinking() {
  return (
    <p className="thinking" role="img" aria-label="Thinking">
      <span />
      <span />
      <span />
      <span />
    </p>
  );
}

function TurnProblem({ message, onRetry }: Props) {
  return (
    <div className="notice problem">
      <CircleAlert size={17} aria-hidden />
      <div>
        {message.error?.message}
        {onRetry && (
          <div className="actions">
            <button type="button" className="button small" onClick={() => onRetry(message)}>
              <RotateCcw size={14} aria-hidden /> Try again
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

function Footer({ message }: { message: ChatMessage }) {
  const text = textOf(message);
  const { usage } = message;
  if (!text && !usage) return null;
  return (
    <footer className="message-foot">
      {text && <CopyButton text={text} label="Copy answer" />}
      {usage && (
        <span className="usage" title="Tokens read and written by the model">
          {usage.inputTokens.toLocaleString('en')} tokens in · {usage.outputTokens.toLocaleString('en')} out
        </span>
      )}
    </footer>
  );
}
