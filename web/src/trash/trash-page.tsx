// What was deleted in the last 30 days: restore it, or delete it for good.
import { useQueryClient } from '@tanstack/react-query';
import { Disc3, DiscAlbum, ListChecks, ListMusic, MessageSquare, Trash2, Undo2, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useChanged } from '../api/queries';
import { refresh } from '../api/refresh';
import { emptyTrash, eraseDeleted, restoreDeleted, TRASH, useTrash } from '../api/trash-queries';
import type { Deleted } from '../api/types';
import { msg, plural, t } from '../i18n';
import { shownTitle } from '../history/shown-title';
import { usePageTitle } from '../shell/page-title';
import { Dialog } from '../ui/dialog';
import { moment } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';
import { daysLeft } from './days-left';
import './trash.css';

const KINDS: Record<Deleted['kind'], { icon: LucideIcon; label: string; news: 'conversations' | 'playlists' | 'tasks' | 'library' }> = {
  album: { icon: DiscAlbum, label: msg('Album'), news: 'library' },
  conversation: { icon: MessageSquare, label: msg('Conversation'), news: 'conversations' },
  playlist: { icon: ListMusic, label: msg('Playlist'), news: 'playlists' },
  task: { icon: ListChecks, label: msg('Task'), news: 'tasks' },
  track: { icon: Disc3, label: msg('Track'), news: 'library' },
};

/** What is about to be deleted for good: one thing, or everything. */
type Asked = Deleted | 'all' | null;

export default function TrashPage() {
  usePageTitle(t('Trash'));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTrash();
  const queries = useQueryClient();
  const changed = useChanged();
  const [asked, setAsked] = useState<Asked>(null);
  const items = (data?.pages.flatMap((page) => page.items) ?? []).map(inWords);

  const reread = () => refresh(queries, TRASH);
  const restore = async (item: Deleted) => {
    try {
      await restoreDeleted(item);
      toast(t('Restored “{title}”', { title: item.title }));
      changed(KINDS[item.kind].news);
    } catch (failure) {
      toastError(failure);
    }
    await reread();
  };
  const erase = async (what: Exclude<Asked, null>) => {
    setAsked(null);
    try {
      await (what === 'all' ? emptyTrash() : eraseDeleted(what.id));
      toast(what === 'all' ? t('The trash is empty') : t('Deleted “{title}” for good', { title: what.title }));
    } catch (failure) {
      toastError(failure);
    }
    await reread();
  };

  return (
    <div className="page">
      <div className="page-inner narrow">
        <header className="page-head">
          <h1>{t('Trash')}</h1>
          {items.length > 0 && (
            <button type="button" className="button danger" onClick={() => setAsked('all')}>
              <Trash2 size={16} aria-hidden /> {t('Empty the trash')}
            </button>
          )}
        </header>
        {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
        {!data && !error && <SkeletonRows rows={5} label={t('Loading the trash')} />}
        {data && items.length === 0 && (
          <Empty icon={Trash2} title={t('The trash is empty')}>
            <p>{t('Conversations, playlists, tasks, tracks and albums that you delete stay here for 30 days.')}</p>
          </Empty>
        )}
        {items.length > 0 && (
          <>
            <p className="trash-note">{t('What you delete stays here for 30 days.')}</p>
            <ul className="trash-list" aria-label={t('Deleted')}>
              {items.map((item) => (
                <TrashRow key={item.id} item={item} onRestore={() => void restore(item)} onErase={() => setAsked(item)} />
              ))}
            </ul>
          </>
        )}
        {hasNextPage && (
          <button type="button" className="button trash-more" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchingNextPage ? t('Loading…') : t('Show more')}
          </button>
        )}
      </div>
      {asked && <Confirm what={asked} onClose={() => setAsked(null)} onErase={() => void erase(asked)} />}
    </div>
  );
}

const inWords = (item: Deleted): Deleted => (item.kind === 'conversation' ? { ...item, title: shownTitle(item) } : item);

/** The detail of a conversation is Markdown; here it is one line of text. */
const withoutMarks = (text: string): string => text.replace(/[*_`#>]+/g, '');

function TrashRow({ item, onRestore, onErase }: { item: Deleted; onRestore: () => void; onErase: () => void }) {
  const { icon: Icon, label } = KINDS[item.kind];
  const left = daysLeft(item.expiresAt);
  return (
    <li className="trash-item">
      <Icon size={18} aria-hidden />
      <div className="trash-words">
        <span className="trash-title" dir="auto">
          {item.title}
        </span>
        {item.detail && (
          <span className="trash-detail" dir="auto">
            {item.kind === 'conversation' ? withoutMarks(item.detail) : item.detail}
          </span>
        )}
        <span className="trash-facts">
          {t('{kind} · Deleted {when}', { kind: t(label), when: moment(item.deletedAt) })} ·{' '}
          <span data-soon={left <= 3}>{plural(left, '{n} day left', '{n} days left')}</span>
        </span>
      </div>
      <div className="trash-actions">
        <button type="button" className="button small" aria-label={t('Restore {title}', { title: item.title })} onClick={onRestore}>
          <Undo2 size={14} aria-hidden /> {t('Restore')}
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={t('Delete {title} for good', { title: item.title })}
          title={t('Delete for good')}
          onClick={onErase}
        >
          <Trash2 size={15} />
        </button>
      </div>
    </li>
  );
}

/** Nothing takes this back, so it is asked first. */
function Confirm({ what, onClose, onErase }: { what: Exclude<Asked, null>; onClose: () => void; onErase: () => void }) {
  const title = what === 'all' ? t('Empty the trash?') : t('Delete for good?');
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        {what === 'all'
          ? t('Everything in the trash will be gone. This cannot be undone.')
          : t('“{title}” will be gone. This cannot be undone.', { title: what.title })}
      </p>
      <div className="trash-confirm">
        <button type="button" className="button" onClick={onClose} data-autofocus>
          {t('Cancel')}
        </button>
        <button type="button" className="button danger" onClick={onErase}>
          {what === 'all' ? t('Empty the trash') : t('Delete for good')}
        </button>
      </div>
    </Dialog>
  );
}
