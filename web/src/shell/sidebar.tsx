// The navigation: new chat, pages, history, and the active model.
import { Disc3, ListChecks, ListMusic, Search, Settings, SquarePen, Trash2 } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useAbout } from '../api/queries';
import { History } from '../history/history';
import { msg, t } from '../i18n';
import { Logo } from './logo';
import { openPalette } from './open-palette';
import { keyName } from './shortcuts';

const PAGES = [
  { href: '/tasks', label: msg('Tasks'), icon: ListChecks },
  { href: '/library', label: msg('Library'), icon: Disc3 },
  { href: '/playlists', label: msg('Playlists'), icon: ListMusic },
];

export function Sidebar({ onNavigate }: { onNavigate?: () => void }) {
  const [location] = useLocation();
  return (
    <div className="sidebar">
      <Link href="/" className="brand" onClick={onNavigate}>
        <Logo size={26} /> Segue
      </Link>
      <Link href="/" className="button new-chat" onClick={onNavigate}>
        <SquarePen size={16} aria-hidden /> {t('New chat')}
      </Link>
      <button
        type="button"
        className="button find"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => {
          onNavigate?.();
          openPalette();
        }}
      >
        <Search size={16} aria-hidden /> {t('Find anything')} <kbd>{keyName('Ctrl')} K</kbd>
      </button>
      <nav className="pages" aria-label={t('Pages')}>
        {PAGES.map(({ href, label, icon: Icon }) => (
          <Link key={href} href={href} aria-current={location === href ? 'page' : undefined} onClick={onNavigate}>
            <Icon size={17} strokeWidth={1.8} aria-hidden /> {t(label)}
          </Link>
        ))}
      </nav>
      <History onNavigate={onNavigate} />
      <div className="sidebar-foot">
        <ModelLine />
        <Link
          href="/trash"
          className="icon-button"
          aria-label={t('Trash')}
          aria-current={location === '/trash' ? 'page' : undefined}
          onClick={onNavigate}
        >
          <Trash2 size={17} />
        </Link>
        <Link
          href="/settings"
          className="icon-button"
          aria-label={t('Settings')}
          aria-current={location === '/settings' ? 'page' : undefined}
          onClick={onNavigate}
        >
          <Settings size={18} />
        </Link>
      </div>
    </div>
  );
}

function ModelLine() {
  const { data: about } = useAbout();
  if (!about) return <span className="model-line" />;
  return (
    <span className="model-line" title={about.model.id}>
      <span className="model-dot" data-offline={about.model.offline} aria-hidden="true" />
      <span>{about.model.offline ? t('Offline model') : about.model.id}</span>
    </span>
  );
}
