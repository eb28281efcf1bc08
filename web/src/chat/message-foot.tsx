// Below an answer: copy it, ask again, when it was written and what it cost.
import { Copy, Ellipsis, RotateCcw } from 'lucide-react';
import { t } from '../i18n';
import { CopyButton, copyText } from '../ui/copy';
import { dollars, fullMoment, moment } from '../ui/format';
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
  const { usage, costUsd, at } = message;
  const copy = () => void copyText(messageMarkdown(message)).then(() => toast(t('Copied as Markdown')), toastError);
  const used = usage && usage.inputTokens + usage.outputTokens > 0 ? usage : null;
  const tokens =
    used && t('Tokens (parts of words): {read} read, {written} written', { read: used.inputTokens, written: used.outputTokens });
  const cost = costUsd === undefined ? '' : ` · ${dollars(costUsd)}`;
  return (
    <footer className="message-foot">
      {text && <CopyButton text={text} label={t('Copy answer')} />}
      {canRepeat && (
        <button
          type="button"
          className="icon-button small"
          aria-label={t('Answer again')}
          title={t('Answer again; this answer is kept')}
          onClick={() => branches.regenerate(message)}
        >
          <RotateCcw size={15} />
        </button>
      )}
      <Menu
        align="start"
        trigger={
          <button type="button" className="icon-button small" aria-label={t('More about this answer')}>
            <Ellipsis size={16} />
          </button>
        }
        items={[{ label: t('Copy as Markdown'), icon: Copy, onSelect: copy }]}
        note={tokens ? tokens + cost : undefined}
      />
      <BranchSwitch message={message} />
      {at && (
        <time className="message-time" dateTime={at} title={fullMoment(at)}>
          {moment(at)}
        </time>
      )}
    </footer>
  );
}
