// Which page stands at which address, and what all of them share.
import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { ApiError, onSignedOut, Unreachable } from './api/client';
import { keepSignedIn, type Issuer } from './api/issuer';
import { useAbout, useMe } from './api/queries';
import { NewChat, OpenChat } from './chat/chat-page';
import { Sessions, SessionsContext, useNews } from './chat/sessions';
import { t } from './i18n';
import { useLanguage } from './i18n/language';
import { Owned } from './shell/owned';
import { usePageTitle } from './shell/page-title';
import { Shell } from './shell/shell';
import { ErrorBoundary } from './ui/error-boundary';
import { lazyPage } from './ui/lazy-page';
import { SkeletonRows } from './ui/states';

const tasks = lazyPage(() => import('./tasks/tasks-page'));
const library = lazyPage(() => import('./library/library-page'));
const playlists = lazyPage(() => import('./playlists/playlists-page'));
const trash = lazyPage(() => import('./trash/trash-page'));
const settings = lazyPage(() => import('./settings/settings-page'));
const signIn = lazyPage<{ mode: string; issuer?: Issuer; onSignedIn: () => void }>(() => import('./settings/sign-in'));
const SignIn = signIn.Component;
const PAGES = [tasks, library, playlists, trash, settings];

export function App() {
  const [queries] = useState(newQueryClient);
  const [sessions] = useState(() => new Sessions(queries));
  const language = useLanguage();
  return (
    <ErrorBoundary
      fallback={
        <main>
          <Broken />
        </main>
      }
    >
      <QueryClientProvider client={queries}>
        <SessionsContext value={sessions}>
          <SignInGate onSignedIn={() => sessions.clear()}>
            {/* Drawn anew in another language: texts are looked up while a component is drawn. */}
            <Pages key={language} />
          </SignInGate>
        </SessionsContext>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

/** Shows the sign-in page as soon as the server answers 401, and the pages again after the sign-in. */
function SignInGate({ children, onSignedIn }: { children: React.ReactNode; onSignedIn: () => void }) {
  const [signedOut, setSignedOut] = useState(false);
  const { data: about } = useAbout();
  const { data: me, isPending, failureCount } = useMe();
  const queries = useQueryClient();
  useEffect(() => onSignedOut(() => setSignedOut(true)), []);
  const issuer = about?.signIn;
  const isKnown = me !== undefined && !signedOut;
  useEffect(() => (issuer && isKnown ? keepSignedIn(issuer, () => setSignedOut(true)) : undefined), [issuer, isKnown]);
  // Before the first answer it is unknown whether a sign-in is needed; while the server does not answer, the page shows what it has.
  if (!signedOut) return isPending && failureCount === 0 ? null : <Owned by={me?.id}>{children}</Owned>;

  const enter = () => {
    // Another person may have come in: nothing of the former one stays.
    queries.clear();
    onSignedIn();
    setSignedOut(false);
  };
  return (
    <Suspense>
      <SignIn mode={about?.mode ?? 'accounts'} issuer={issuer ?? undefined} onSignedIn={enter} />
    </Suspense>
  );
}

function Pages() {
  useNews(useQueryClient());
  usePreloaded();
  const [location] = useLocation();
  return (
    <Shell>
      {/* One page that breaks leaves the way to the others. */}
      <ErrorBoundary key={location} fallback={<Broken />}>
        <Suspense fallback={<PageSkeleton />}>
          <Switch>
            <Route path="/c/:id">{({ id }) => <OpenChat id={id} />}</Route>
            <Route path="/tasks" component={tasks.Component} />
            <Route path="/library" component={library.Component} />
            <Route path="/playlists" component={playlists.Component} />
            <Route path="/trash" component={trash.Component} />
            <Route path="/settings" component={settings.Component} />
            <Route path="/" component={NewChat} />
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** Once the first page stands, the others are fetched: opened while the server is away, they are here already. */
function usePreloaded(): void {
  useEffect(() => {
    const timer = setTimeout(() => PAGES.forEach((page) => page.preload()), 2_000);
    return () => clearTimeout(timer);
  }, []);
}

function Broken() {
  return (
    <div className="page">
      <div className="page-inner narrow">
        <h1>{t('The page broke')}</h1>
        <p style={{ margin: '12px 0 20px' }}>{t('Nothing you wrote is lost: conversations are stored on the server.')}</p>
        <button type="button" className="button primary" onClick={() => window.location.reload()}>
          {t('Load it again')}
        </button>
      </div>
    </div>
  );
}

function NotFound() {
  usePageTitle(t('Not found'));
  return (
    <div className="page">
      <div className="page-inner narrow">
        <h1>{t('There is no page at this address')}</h1>
        <p style={{ margin: '12px 0 20px' }}>{t('The link may be old or mistyped.')}</p>
        <Link className="button primary" href="/">
          {t('New chat')}
        </Link>
      </div>
    </div>
  );
}

function PageSkeleton() {
  return (
    <div className="page">
      <div className="page-inner">
        <SkeletonRows rows={6} label={t('Loading the page')} />
      </div>
    </div>
  );
}

function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A retry helps when there was no answer, not when the answer was a refusal.
        retry: (failures, error) => error instanceof Unreachable || (failures < 3 && !(error instanceof ApiError && error.status < 500)),
        retryDelay: (failures) => Math.min(8_000, 500 * 2 ** failures),
      },
    },
  });
}
