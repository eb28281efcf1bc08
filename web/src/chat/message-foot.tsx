// Below an answer: copy it, ask again, when it was written and what it cost.
import { Copy, Ellipsis, RotateCcw } from 'lucide-react';
import { CopyButton, copyText } from '../ui/copy';
import { moment } from '../ui/format';
import { Menu } from '../ui/menu';
import { toast, toastError } from '../ui/toast';
import { messageMarkdown } from './export';
import { textOf, type ChatMessage } from './reduce';

interface Props {
  message: ChatMessage;
  /** Given where the question can be asked once more. */
  onAgain?: (message: ChatMessage) => void;
}

export function MessageFoot({ message, onAgain }: Props) {
  const text = textOf(message);
  const { usage, at } = message;
  const copy = () => void copyText(messageMarkdown(message)).then(() => toast('Copied as Markdown'), toastError);
  const cost = usage && usage.inputTokens + usage.outputTokens > 0 ? usage : null;
  return (
    <footer className="message-foot">
      {text && <CopyButton text={text} label="Copy answer" />}
      <Menu
        align="start"
        trigger={
          <button type="button" className="icon-button small" aria-label="More about this answer">
            <Ellipsis size={16} />
          </button>
        }
        items={[
          { label: 'Copy as Markdown', icon: Copy, onSelect: copy },
          ...(onAgain ? [{ label: 'Ask again', icon: RotateCcw, onSelect: () => onAgain(message) }] : []),
        ]}
        note={cost ? `${cost.inputTokens.toLocaleString('en')} tokens in · ${cost.outputTokens.toLocaleString('en')} out` : undefined}
      />
      {at && (
        <time className="message-time" dateTime={at} title={new Date(at).toLocaleString()}>
          {moment(at)}
        </time>
      )}
    </footer>
  );
}
