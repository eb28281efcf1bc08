// The list of conversations: find one, go back to it, rename it, delete it and think better of it.
import { Ellipsis, FileJson, FileText, Link2, Pencil, Pin, PinOff, Search, Trash2 } from 'lucide-react';
import { useMemo, useState, type KeyboardEvent } from 'react';
import { Link, useLocation } from 'wouter';
import {
  deleteConversation,
  exportConversation,
  pinConversation,
  renameConversation,
  restoreConversation,
  useChanged,
  useConversations,
} from '../api/queries';
import type { Conversation } from '../api/types';
import { iconOf, useAgent } from '../chat/agents';
import { download, fileName } from '../chat/export';
import { useIsRunning, useSessions } from '../chat/sessions';
import { t } from '../i18n';
import { copyText } from '../ui/copy';
import { useDebounced } from '../ui/debounced';
import { isComposing, isEnter } from '../ui/keys';
import { Menu } from '../ui/menu';
import { Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { byDay } from './by-day';
import { shownTitle } from './shown-title';
import './history.css';

export function History({ onNavigate }: { onNavigate?: () => void }) {
  const [words, setWords] = useState('');
  const q = useDebounced(words.trim());
  const { data, error, refetch, fetchNextPage, hasNextPage } = useConversations(q);
  const days = useMemo(() => byDay(data?.pages.flatMap((page) => page.conversations) ?? [], new Date()), [data]);

  return (
    <nav className="history" aria-label={t('Conversations')}>
      <label className="search-field">
        <Search size={15} aria-hidden />
        <input
          className="field"
          type="search"
          placeholder={t('Search conversations')}
          aria-label={t('Search conversations')}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <div className="history-list" tabIndex={-1}>
        {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
        {!data && !error && <SkeletonRows rows={5} height={30} label={t('Loading conversations')} />}
        {days.map((day) => (
          <section key={day.label}>
            <h3>{day.label}</h3>
            <ul>
              {day.conversations.map((conversation) => (
                <Entry key={conversation.id} conversation={conversation} words={q} onNavigate={onNavigate} />
              ))}
            </ul>
          </section>
        ))}
        {data && days.length === 0 && (
          <p className="history-none">{q ? t('Nothing about “{q}”.', { q }) : t('Your conversations will be listed here.')}</p>
        )}
        {hasNextPage && (
          <button type="button" className="button small quiet" onClick={() => void fetchNextPage()}>
            {t('Show older')}
          </button>
        )}
      </div>
    </nav>
  );
}

interface EntryProps {
  conversation: Conversation;
  /** What was searched for. */
  words: string;
  onNavigate?: () => void;
}

function Entry({ conversation, words, onNavigate }: EntryProps) {
  const { id, pinned, match } = conversation;
  const agent = useAgent(conversation.agent);
  const title = shownTitle(conversation);
  const running = useIsRunning(id) || conversation.running;
  const [location, navigate] = useLocation();
  const [renaming, setRenaming] = useState(false);
  const changed = useChanged();
  const sessions = useSessions();
  const here = location === `/c/${id}`;
  const Icon = iconOf(agent);

  const remove = async () => {
    try {
      await deleteConversation(id);
    } catch (error) {
      return toastError(error);
    }
    sessions.forget(id);
    if (here) navigate('/');
    changed('conversations');
    toast(t('Deleted “{title}”', { title }), {
      undo: async () => {
        await restoreConversation(id);
        changed('conversations');
        // It was on screen when it went: that is where it comes back.
        if (here) navigate(`/c/${id}`);
      },
    });
  };
  const copyLink = () => void copyText(`${window.location.origin}/c/${id}`).then(() => toast(t('Link copied')), toastError);

  const save = async (as: 'md' | 'json') => {
    try {
      if (as === 'md') download(fileName(title, 'md'), 'text/markdown', await exportConversation(id, 'markdown'));
      else download(fileName(title, 'json'), 'application/json', await exportConversation(id, 'json'));
    } catch (error) {
      toastError(error);
    }
  };

  const pin = async () => {
    try {
      await pinConversation(id, !pinned);
      changed('conversations');
    } catch (error) {
      toastError(error);
    }
  };

  if (renaming) return <Rename conversation={conversation} onDone={() => setRenaming(false)} />;
  return (
    <li className="entry" data-here={here}>
      <Link href={`/c/${id}`} aria-current={here ? 'page' : undefined} title={title} onClick={onNavigate}>
        <Icon size={14} aria-label={t(agent?.title ?? conversation.agent)} />
        <span className="entry-words">
          <span dir="auto">{title}</span>
          {match && (
            <span className="entry-line" dir="auto">
              <Marked line={match} words={words} />
            </span>
          )}
        </span>
        {running && <span className="entry-running" role="img" aria-label={t('Answering')} />}
      </Link>
      <Menu
        trigger={
          <button type="button" className="icon-button small" aria-label={t('More for {title}', { title })}>
            <Ellipsis size={16} />
          </button>
        }
        items={[
          { label: t('Rename'), icon: Pencil, onSelect: () => setRenaming(true) },
          { label: pinned ? t('Unpin') : t('Pin'), icon: pinned ? PinOff : Pin, onSelect: () => void pin() },
          { label: t('Copy link'), icon: Link2, onSelect: copyLink },
          { label: t('Save as Markdown'), icon: FileText, onSelect: () => void save('md') },
          { label: t('Save as JSON'), icon: FileJson, onSelect: () => void save('json') },
          { label: t('Delete'), icon: Trash2, danger: true, onSelect: () => void remove() },
        ]}
      />
    </li>
  );
}

/** The words that were searched for stand out in their line. */
function Marked({ line, words }: { line: string; words: string }) {
  const at = line.toLowerCase().indexOf(words.toLowerCase());
  if (words === '' || at < 0) return line;
  return (
    <>
      {line.slice(0, at)}
      <mark>{line.slice(at, at + words.length)}</mark>
      {line.slice(at + words.length)}
    </>
  );
}

function Rename({ conversation, onDone }: { conversation: Conversation; onDone: () => void }) {
  const before = shownTitle(conversation);
  const [title, setTitle] = useState(before);
  const changed = useChanged();
  const sessions = useSessions();

  const save = async () => {
    onDone();
    const words = title.trim();
    if (words === '' || words === before) return;
    try {
      await renameConversation(conversation.id, words);
      sessions.renamed(conversation.id, words);
      changed('conversations');
    } catch (error) {
      toastError(error);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isEnter(event)) void save();
    if (event.key !== 'Escape' || isComposing(event)) return;
    event.preventDefault();
    event.stopPropagation();
    onDone();
  };
  return (
    <li className="entry">
      <input
        className="field"
        aria-label={t('Conversation title')}
        dir="auto"
        value={title}
        autoFocus
        maxLength={200}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => void save()}
      />
    </li>
  );
}
