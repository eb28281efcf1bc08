// The to-do list as a page of its own.
import { MessageSquareText } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { t } from '../i18n';
import { usePageTitle } from '../shell/page-title';
import { TaskPanel } from './task-panel';

export default function TasksPage() {
  usePageTitle(t('Tasks'));
  const [search] = useSearchParams();
  return (
    <div className="page">
      <div className="page-inner narrow">
        <header className="page-head">
          <h1>{t('Tasks')}</h1>
          <Link className="button" href="/?agent=tasks">
            <MessageSquareText size={16} aria-hidden /> {t('Talk about them')}
          </Link>
        </header>
        <TaskPanel wanted={search.get('task')} />
      </div>
    </div>
  );
}
