// The page you talk on: a new conversation, or one that already has its address.
import { WifiOff } from 'lucide-react';
import { Suspense, useCallback, useEffect, useMemo, useState, type ComponentProps } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ApiError } from '../api/client';
import { useAbout, useTitle } from '../api/queries';
import { t } from '../i18n';
import { useOnline } from '../shell/online';
import { usePageTitle } from '../shell/page-title';
import { lazyPage } from '../ui/lazy-page';
import { Failed, Skeleton, SkeletonRows } from '../ui/states';
import { keepsTasks, useAgent } from './agents';
import { AskContext } from './ask';
import { BranchContext, type BranchActions } from './branches';
import { Composer } from './composer';
import { ConsentContext, type Consents } from './consent-card';
import { moveDraft, NEW_CHAT, returnToDraft } from './drafts';
import type { Session } from './session';
import { useSession, useSessions } from './sessions';
import { Thread } from './thread';
import { Welcome } from './welcome';
import './chat-page.css';

const { Component: ModelPicker } = lazyPage<ComponentProps<typeof import('./model-picker').default>>(() => import('./model-picker'));
const { Component: TaskPanel } = lazyPage(() => import('../tasks/task-panel'));

export function NewChat() {
  const sessions = useSessions();
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const { data: about } = useAbout();
  const named = search.get('agent');
  // An old link may name an agent that this server does not have.
  const agent = about && !about.agents.some(({ id }) => id === named) ? null : named;
  const session = useMemo(() => sessions.newChat(agent), [sessions, agent]);
  useShared();

  useEffect(() => {
    sessions.onOpened = (opened, id) => {
      if (opened !== session) return;
      moveDraft(NEW_CHAT, id);
      navigate(`/c/${id}`, { replace: true });
    };
    return () => {
      sessions.onOpened = () => undefined;
    };
  }, [sessions, session, navigate]);

  return <Chat session={session} draftKey={NEW_CHAT} />;
}

/** Something shared to Segue from another app: it waits in the composer, nothing is sent before the person says so. */
function useShared(): void {
  const [search, setSearch] = useSearchParams();
  const shared = ['title', 'text', 'url'].map((name) => search.get(name)?.trim()).filter(Boolean);
  const words = [...new Set(shared)].join('\n');
  useEffect(() => {
    if (words === '') return;
    returnToDraft(NEW_CHAT, words);
    setSearch({}, { replace: true });
  }, [words, setSearch]);
}

export function OpenChat({ id }: { id: string }) {
  const sessions = useSessions();
  const session = useMemo(() => sessions.of(id), [sessions, id]);
  return <Chat key={id} session={session} draftKey={id} />;
}

function Chat({ session, draftKey }: { session: Session; draftKey: string }) {
  const { state, load } = useSession(session);
  const { turn, messages } = state;
  const agent = useAgent(state.agent);
  const title = useTitle(state.conversationId) ?? state.title;
  const online = useOnline();
  const foot = useFootHeight();
  const ask = useCallback((text: string) => session.send(text), [session]);
  const idle = turn === null;
  const branches = useBranchActions(session, idle);
  const consents = useMemo(
    (): Consents => ({ states: state.consents, idle, decide: (id, decision) => void session.decide(id, decision) }),
    [session, state.consents, idle],
  );
  const lastQuestion = messages.findLast((message) => message.role === 'user' && message.stored);
  usePageTitle(title ?? (messages.length > 0 ? t('Conversation') : t('New chat')));
  useStopOnEscape(turn !== null, session);

  if (load.status === 'loading') return <ChatSkeleton />;
  if (load.status === 'failed') return <NoSuchChat error={load.error} onRetry={() => void session.open()} />;

  const fresh = messages.length === 0 && turn === null;
  return (
    <AskContext value={ask}>
      <div className="chat">
        <div className="chat-main">
          {!fresh && <h1 className="visually-hidden">{title ?? t('Conversation')}</h1>}
          {fresh ? (
            <Welcome agent={state.agent} onPick={(text) => session.send(text)} />
          ) : (
            <BranchContext value={branches}>
              <ConsentContext value={consents}>
                <Thread
                  state={state}
                  conversation={draftKey}
                  onRetry={(message) => void session.retry(message)}
                  onGoOn={() => session.send(t('Please go on.'))}
                  onAsk={ask}
                />
              </ConsentContext>
            </BranchContext>
          )}
          <div className="chat-foot" ref={foot}>
            {turn?.turnId && !turn.connected && online && (
              <p className="reconnecting" role="status">
                <WifiOff size={15} aria-hidden /> {t('Connection lost. Reconnecting…')}
              </p>
            )}
            <Composer
              draftKey={draftKey}
              placeholder={t(agent?.placeholder ?? '')}
              turn={turn}
              queue={state.queue}
              refusal={state.refusal}
              onSend={(text) => session.send(text)}
              onStop={() => void session.stop()}
              onUnqueue={(id) => session.unqueue(id)}
              onSendNext={() => session.sendNext()}
              onExcuse={() => session.excuse()}
              picker={<Picker chosen={state.model} onChoose={(name) => void session.chooseModel(name)} />}
              onEditLast={idle && lastQuestion ? () => branches.setEditing(lastQuestion.id) : undefined}
            />
          </div>
        </div>
        {keepsTasks(agent) && !fresh && (
          <aside className="chat-aside" aria-label={t('Your tasks')}>
            <Suspense fallback={<SkeletonRows rows={4} height={44} label={t('Loading tasks')} />}>
              <TaskPanel />
            </Suspense>
          </aside>
        )}
      </div>
    </AskContext>
  );
}

/** Only where there is more than one model; its code is loaded only then. */
function Picker({ chosen, onChoose }: { chosen: string | null; onChoose: (name: string | null) => void }) {
  const { data: about } = useAbout();
  const choices = about?.model.choices?.length ?? 0;
  if (!about || choices + (about.model.choice ? 0 : 1) < 2) return null;
  return (
    <Suspense>
      <ModelPicker model={about.model} chosen={chosen} onChoose={onChoose} />
    </Suspense>
  );
}

function useBranchActions(session: Session, idle: boolean): BranchActions {
  const [editing, setEditing] = useState<string | null>(null);
  return useMemo(
    () => ({
      idle,
      editing,
      setEditing,
      choose: (id) => void session.choose(id),
      edit: (question, text) => {
        setEditing(null);
        session.edit(question, text);
        document.querySelector<HTMLElement>('.composer textarea')?.focus();
      },
      regenerate: (answer) => void session.retry(answer),
    }),
    [session, idle, editing],
  );
}

/** How high the composer stands, so that what floats above the page never lies on it. */
function useFootHeight() {
  return useCallback((element: HTMLDivElement | null) => {
    if (!element) return;
    const root = document.documentElement;
    const observer = new ResizeObserver(() => root.style.setProperty('--foot', `${element.offsetHeight}px`));
    observer.observe(element);
    return () => {
      observer.disconnect();
      root.style.removeProperty('--foot');
    };
  }, []);
}

function ChatSkeleton() {
  return (
    <div className="chat">
      <div className="chat-main">
        <div className="thread-frame">
          <div className="thread-inner" role="status" aria-label={t('Loading the conversation')}>
            <div style={{ display: 'grid', justifyItems: 'end', margin: '30px 0' }}>
              <Skeleton width="40%" height={44} />
            </div>
            <div style={{ display: 'grid', gap: 12 }}>
              <Skeleton width="92%" />
              <Skeleton width="84%" />
              <Skeleton height={58} />
              <Skeleton width="70%" />
            </div>
          </div>
        </div>
      </div>
    </div>
  );
}

function NoSuchChat({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <div className="page">
      <div className="page-inner narrow">
        <h1>{missing ? t('This conversation is not here') : t('The conversation did not open')}</h1>
        <p style={{ margin: '12px 0 20px' }}>
          {missing ? t('It was deleted, or it belongs to someone else.') : t('Your messages are safe on the server.')}
        </p>
        {!missing && <Failed error={error} onRetry={onRetry} />}
      </div>
    </div>
  );
}

function useStopOnEscape(running: boolean, session: Session): void {
  useEffect(() => {
    if (!running) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const elsewhere = document.querySelector('dialog[open], [role="menu"]') ?? filledSearch(event.target);
      if (event.key === 'Escape' && !event.defaultPrevented && !elsewhere) void session.stop();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [running, session]);
}

/** There Escape empties the field first. */
function filledSearch(target: EventTarget | null): HTMLInputElement | null {
  return target instanceof HTMLInputElement && target.type === 'search' && target.value !== '' ? target : null;
}
