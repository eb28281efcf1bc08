// Below an answer: copy it, ask again, when it was written and what it cost.
import { Copy, Ellipsis, RotateCcw } from 'lucide-react';
import { CopyButton, copyText } from '../ui/copy';
import { moment } from '../ui/format';
import { Menu } from '../ui/menu';
import { toast, toastError } from '../ui/toast';
import { BranchSwitch, useBranches } from './branches';
import { messageMarkdown } from './export';
import { textOf, type ChatMessage } from './reduce';

interface Props {
  message: ChatMessage;
}

export function MessageFoot({ message }: Props) {
  const branches = useBranches();
  const canRepeat = branches?.idle === true && !message.error;
  const text = textOf(message);
  const { usage, at } = message;
  const copy = () => void copyText(messageMarkdown(message)).then(() => toast('Copied as Markdown'), toastError);
  const cost = usage && usage.inputTokens + usage.outputTokens > 0 ? usage : null;
  return (
    <footer className="message-foot">
      {text && <CopyButton text={text} label="Copy answer" />}
      {canRepeat && (
        <button
          type="button"
          className="icon-button small"
          aria-label="Answer again"
          title="Answer again; this answer is kept"
          onClick={() => branches.regenerate(message)}
        >
          <RotateCcw size={15} />
        </button>
      )}
      <Menu
        align="start"
        trigger={
          <button type="button" className="icon-button small" aria-label="More about this answer">
            <Ellipsis size={16} />
          </button>
        }
        items={[{ label: 'Copy as Markdown', icon: Copy, onSelect: copy }]}
        note={cost ? `${cost.inputTokens.toLocaleString('en')} tokens in · ${cost.outputTokens.toLocaleString('en')} out` : undefined}
      />
      <BranchSwitch message={message} />
      {at && (
        <time className="message-time" dateTime={at} title={new Date(at).toLocaleString()}>
          {moment(at)}
        </time>
      )}
    </footer>
  );
}
