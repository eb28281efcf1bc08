// One message of a conversation: the words, the work between them, how it ended.
import { CircleAlert, CircleOff, Footprints, OctagonPause, RotateCcw } from 'lucide-react';
import { lazy, memo, Suspense } from 'react';
import { t } from '../i18n';
import { ToolCard } from '../tools/card';
import { shownCall } from './found';
import { ConsentCard } from './consent-card';
import { Markdown } from './markdown';
import { MessageFoot } from './message-foot';
import { Question } from './question';
import type { ChatMessage, Part } from './reduce';
import './message.css';

const Thought = lazy(() => import('./thought'));
const Reading = lazy(() => import('./reading'));

interface Props {
  message: ChatMessage;
  /** Given for the last message of an idle conversation: its question can be asked once more. */
  onRetry?: (message: ChatMessage) => void;
  /** Given for the last answer, when it ended before it was done. */
  onGoOn?: () => void;
}

export const Message = memo(function Message(props: Props) {
  return props.message.role === 'user' ? <Question message={props.message} /> : <Answer {...props} />;
});

function Answer({ message, onRetry, onGoOn }: Props) {
  const running = message.status === 'running';
  const empty = message.parts.length === 0;
  const shown = shownCall(message);
  // Written before this page was loaded: what it says about the library is asked again.
  const old = message.at !== undefined && Date.parse(message.at) < performance.timeOrigin;
  return (
    <article className="message answer" aria-label="Segue" aria-busy={running}>
      {message.thought && (
        <Suspense>
          <Thought text={message.thought} />
        </Suspense>
      )}
      {message.parts.map((part, index) => (
        <PartView
          key={part.kind === 'tool' ? part.call.id : index}
          part={part}
          shown={part.kind === 'tool' && part.call.id === shown}
          old={old}
        />
      ))}
      {running && empty && <Thinking />}
      {running && (empty ? !message.thought : message.reading !== undefined) && (
        <Suspense>
          <Reading share={message.reading} />
        </Suspense>
      )}
      {message.status === 'complete' && empty && <EmptyAnswer message={message} onRetry={onRetry} />}
      {message.status === 'stopped' && (
        <p className="ending">
          <OctagonPause size={14} aria-hidden /> {t('Stopped')}
        </p>
      )}
      {message.status === 'max_steps' && (
        <p className="ending">
          <Footprints size={14} aria-hidden /> {t('That was as many steps as one answer may take.')}
          {onGoOn && (
            <button type="button" className="button small" onClick={onGoOn}>
              {t('Go on')}
            </button>
          )}
        </p>
      )}
      {message.error && <TurnProblem message={message} onRetry={onRetry} />}
      {!running && <MessageFoot message={message} />}
    </article>
  );
}

interface PartProps {
  part: Part;
  shown: boolean;
  old: boolean;
}

const PartView = memo(function PartView({ part, shown, old }: PartProps) {
  if (part.kind === 'text') return <Markdown text={part.text} />;
  const { consentId } = part.call;
  return consentId ? <ConsentCard call={part.call} consentId={consentId} /> : <ToolCard call={part.call} shown={shown} old={old} />;
});

export function Thinking() {
  return (
    <p className="thinking" role="img" aria-label={t('Thinking')}>
      <span />
      <span />
      <span />
      <span />
    </p>
  );
}

function EmptyAnswer({ message, onRetry }: Props) {
  return (
    <p className="ending">
      <CircleOff size={14} aria-hidden /> {t('The model gave no answer.')}
      {onRetry && (
        <button type="button" className="button small" onClick={() => onRetry(message)}>
          <RotateCcw size={14} aria-hidden /> {t('Try again')}
        </button>
      )}
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
              <RotateCcw size={14} aria-hidden /> {t('Try again')}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
