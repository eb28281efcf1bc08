// Which conversations this tab has open, so that leaving a page and coming back does not interrupt anything.
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import type { QueryClient } from '@tanstack/react-query';
import { announce, onNews } from '../api/news';
import { refresh } from '../api/refresh';
import type { AgentId } from '../api/types';
import { cardFor } from '../tools';
import type { ToolCall } from './parts';
import { Session } from './session';

const LONGEST_TURN_MS = 300_000;
const TITLE_MS = 5_000;

export class Sessions {
  private byId = new Map<string, Session>();
  private draft: Session | null = null;
  private running = new Set<string>();
  private listeners = new Set<() => void>();
  /** Set by the page that shows the new conversation, to move the address bar along. */
  onOpened: (session: Session, id: string) => void = () => undefined;

  constructor(private queries: QueryClient) {
    onNews((news) => {
      if (news.kind === 'turn') {
        this.setRunning(news.conversationId, true);
        void this.byId.get(news.conversationId)?.open();
      }
      if (news.kind === 'turn-end') this.setRunning(news.conversationId, false);
      if (news.kind === 'branch') void this.byId.get(news.conversationId)?.open();
    });
    // Another device may have gone on with a conversation while this tab was out of sight.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.byId.forEach((session) => void session.open());
    });
  }

  of(id: string): Session {
    const known = this.byId.get(id);
    if (known) return known;
    const session = new Session(null, id, this.events());
    this.byId.set(id, session);
    void session.open();
    return session;
  }

  /** The conversation that does not exist yet. One per agent choice; a sent one becomes a real one. */
  newChat(agent: AgentId | null): Session {
    if (this.draft?.getState().agent !== agent || this.draft.getState().messages.length > 0) {
      this.draft = new Session(agent, null, this.events());
    }
    return this.draft;
  }

  renamed(id: string, title: string): void {
    this.byId.get(id)?.rename(title);
  }

  forget(id: string): void {
    this.byId.delete(id);
  }

  clear(): void {
    this.byId.clear();
    this.draft = null;
  }

  private events() {
    return {
      onConversation: (session: Session, id: string) => {
        if (this.byId.get(id) === session) return;
        this.byId.set(id, session);
        if (this.draft === session) this.draft = null;
        this.refresh('conversations');
        this.onOpened(session, id);
      },
      onToolDone: (call: ToolCall) => cardFor(call).changes?.forEach((kind) => this.refresh(kind)),
      onTurnStart: (id: string) => this.setRunning(id, true),
      onTurnLost: (id: string) => this.setRunning(id, false),
      onTurnEnd: (id: string) => {
        this.setRunning(id, false);
        announce({ kind: 'turn-end', conversationId: id });
        this.refresh('conversations');
        // A model may write a better title meanwhile.
        setTimeout(() => this.refresh('conversations'), TITLE_MS);
      },
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  isRunning(id: string): boolean {
    return this.running.has(id);
  }

  /** As far as the tabs of this browser know. */
  private setRunning(id: string, running: boolean): void {
    if (running === this.running.has(id)) return;
    // A tab that was closed never says that its turn has ended; no turn is longer than this.
    if (running) setTimeout(() => this.setRunning(id, false), LONGEST_TURN_MS);
    if (running) this.running.add(id);
    else this.running.delete(id);
    this.listeners.forEach((listener) => listener());
  }

  private refresh(kind: 'tasks' | 'playlists' | 'conversations'): void {
    void refresh(this.queries, [kind]);
    announce({ kind });
  }
}

export const SessionsContext = createContext<Sessions | null>(null);

export function useSessions(): Sessions {
  const sessions = useContext(SessionsContext);
  if (!sessions) throw new Error('SessionsContext is missing above this component');
  return sessions;
}

export function useIsRunning(id: string): boolean {
  const sessions = useSessions();
  return useSyncExternalStore(sessions.subscribe, () => sessions.isRunning(id));
}

export function useSession(session: Session) {
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const load = useSyncExternalStore(session.subscribe, session.getLoad);
  return { state, load };
}

/** Keeps this tab's lists true to what other tabs did. */
export function useNews(queries: QueryClient): void {
  useEffect(
    () =>
      onNews((news) => {
        if (!('conversationId' in news)) void refresh(queries, [news.kind]);
      }),
    [queries],
  );
}
