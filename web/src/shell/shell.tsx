// The frame around every page: a sidebar on large screens, a drawer on small ones, and a bar when the network is
// down.
import { Menu as MenuIcon, SquarePen, WifiOff } from 'lucide-react';
import { Suspense, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Link, useLocation, useRoute } from 'wouter';
import { useTitle } from '../api/queries';
import { t } from '../i18n';
import { openTrack, useOpenTrack } from '../music/open-track';
import { Dialog } from '../ui/dialog';
import { LiveRegion } from '../ui/live-region';
import { lazyPage } from '../ui/lazy-page';
import { Toasts } from '../ui/toast';
import { Logo } from './logo';
import { useNetwork, useReachable } from './online';
import { Sidebar } from './sidebar';
import { CommandKeys } from './command-keys';
import { useDroppedElsewhere } from './dropped-elsewhere';
import { useKeptFocus } from './kept-focus';
import { useUndoKey } from './undo-key';
import './shell.css';

const { Component: TrackDialog } = lazyPage<{ isrc: string; onClose: () => void }>(async () => ({
  default: (await import('../library/details')).TrackDialog,
}));

export function Shell({ children }: { children: ReactNode }) {
  const wide = useMedia('(min-width: 861px)');
  const [drawer, setDrawer] = useState(false);
  const [location] = useLocation();
  useEffect(() => setDrawer(false), [location, wide]);
  useKeptFocus();
  useUndoKey();
  useDroppedElsewhere();

  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      {wide ? (
        <aside className="shell-side" aria-label={t('Sidebar')}>
          <Sidebar />
        </aside>
      ) : (
        <Topbar onMenu={() => setDrawer(true)} />
      )}
      <main className="shell-main" id="main" tabIndex={-1}>
        <OfflineBar />
        {children}
      </main>
      {drawer && !wide && (
        <Dialog title={t('Menu')} shape="sheet" hideTitle onClose={() => setDrawer(false)}>
          <Sidebar onNavigate={() => setDrawer(false)} />
        </Dialog>
      )}
      <OpenTrack />
      <CommandKeys />
      <LiveRegion />
      <Toasts />
    </div>
  );
}

/** A track opened from the text of an answer, shown above the current page. */
function OpenTrack() {
  const isrc = useOpenTrack();
  return (
    isrc && (
      <Suspense>
        <TrackDialog isrc={isrc} onClose={() => openTrack(null)} />
      </Suspense>
    )
  );
}

/** In a conversation its title replaces the product name. */
function Topbar({ onMenu }: { onMenu: () => void }) {
  const [, chat] = useRoute('/c/:id');
  const title = useTitle(chat?.id ?? null);
  return (
    <header className="topbar">
      <button type="button" className="icon-button" aria-label={t('Open menu')} aria-haspopup="dialog" onClick={onMenu}>
        <MenuIcon size={20} />
      </button>
      {title ? (
        <span className="topbar-title" dir="auto">
          {title}
        </span>
      ) : (
        <Link href="/" className="brand">
          <Logo size={24} /> Segue
        </Link>
      )}
      <Link href="/" className="icon-button" aria-label={t('New chat')}>
        <SquarePen size={19} />
      </Link>
    </header>
  );
}

function OfflineBar() {
  const online = useNetwork();
  const reachable = useReachable();
  if (online && reachable) return null;
  return (
    <p className="offline-bar" role="status">
      <WifiOff size={15} aria-hidden />
      {online
        ? t('Segue does not answer. Trying again…')
        : t('You are offline. You can read what is open; your messages are sent when the connection is back.')}
    </p>
  );
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => window.matchMedia(query).matches,
  );
}
