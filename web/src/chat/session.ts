// One open conversation: loading, sending, queueing, following, stopping. State changes only through `reduce`.
import { ApiError, explain, getJson, send, Unreachable, writeJson } from '../api/client';
import { announce } from '../api/news';
import type { AgentId, ChatRequest, Frame, OpenConversation } from '../api/types';
import { t } from '../i18n';
import { newId } from '../ui/id';
import { say } from '../ui/live-region';
import { toastError } from '../ui/toast';
import { Announcer } from './announcer';
import { NEW_CHAT, returnToDraft } from './drafts';
import { emptyChat, reduce, type Action, type ChatMessage, type ChatState, type QueuedMessage, type ToolCall } from './reduce';
import { keepPending, recoveredAs } from './pending';
import { keepQueue, savedQueue } from './queue-storage';
import { refusalOf } from './refusal-of';
import type { Decision } from './consent-card';
import { follow } from './stream';

export interface SessionEvents {
  /** The server gave a new conversation its id. */
  onConversation: (session: Session, id: string) => void;
  /** A tool finished: what it changed may be on screen elsewhere. */
  onToolDone: (call: ToolCall) => void;
  onTurnStart: (conversationId: string) => void;
  onTurnEnd: (conversationId: string) => void;
  /** It is not followed any more, and nothing is known about it. */
  onTurnLost: (conversationId: string) => void;
}

export type LoadState = { status: 'loading' } | { status: 'ready' } | { status: 'failed'; error: unknown };

const RECONNECT_MS = 2_000;
/** The turn that has ended, and one that a queue may have begun since. */
const LAST_MESSAGES = 4;

export class Session {
  private state: ChatState;
  private load: LoadState;
  private listeners = new Set<() => void>();
  private following: AbortController | null = null;
  private stopWanted = false;
  /** Forgets the message on its way: the server has it, or the composer has it again. */
  private settle: () => void = () => undefined;
  private announcer = new Announcer();

  constructor(
    agent: AgentId | null,
    conversationId: string | null,
    private events: SessionEvents,
  ) {
    this.state = { ...emptyChat(agent, conversationId), queue: conversationId ? savedQueue(conversationId) : [] };
    this.load = conversationId ? { status: 'loading' } : { status: 'ready' };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly getState = (): ChatState => this.state;
  readonly getLoad = (): LoadState => this.load;

  /** Reads the stored conversation and joins the turn that is running in it, if any. */
  async open(): Promise<void> {
    const id = this.state.conversationId;
    if (!id || this.following) return;
    try {
      const conversation = await getJson<OpenConversation>(`/api/conversations/${id}`);
      this.dispatch({ type: 'loaded', conversation });
      this.setLoad({ status: 'ready' });
    } catch (error) {
      if (error instanceof Unreachable) setTimeout(() => void this.open(), RECONNECT_MS);
      else if (this.load.status !== 'ready') this.setLoad({ status: 'failed', error });
      return;
    }
    if (this.following) return;
    await this.attach();
  }

  /** Sends now, or after the running turn has ended. */
  send(text: string): void {
    const { refusal } = this.state;
    // The same words after a refusal keep their id: if the server did take them, they do not count twice.
    const message = refusal?.message.text === text ? refusal.message : (recoveredAs(text) ?? { clientMessageId: newId(), text });
    if (this.state.turn) this.enqueue(message);
    else void this.deliver(message);
  }

  /** Asks the question of an answer once more: after a failure, or for another answer. */
  async retry(failed: ChatMessage): Promise<void> {
    if (this.state.turn) return;
    // By its id: without it the server would store the same question twice.
    if (!this.questionOf(failed)?.stored) await this.settleMessages();
    const question = this.questionOf(failed);
    if (question) this.edit(question, wordsOf(question));
  }

  private questionOf({ id }: ChatMessage): ChatMessage | undefined {
    const { messages } = this.state;
    const at = messages.findIndex((message) => message.id === id);
    return at < 0 ? undefined : messages.slice(0, at).findLast((message) => message.role === 'user');
  }

  /** Asks a question in other words, or in the same ones for another answer. The earlier version is kept. */
  edit(question: ChatMessage, text: string): void {
    if (this.state.turn) return;
    void this.deliver({ clientMessageId: newId(), text, ...(question.stored && { editOf: question.id }) });
  }

  /** Shows another version of a question or an answer, here and wherever this conversation is open. */
  async choose(messageId: string): Promise<void> {
    const id = this.state.conversationId;
    if (!id || this.state.turn) return;
    try {
      const response = await writeJson('PUT', `/api/conversations/${id}/branch`, { messageId });
      this.dispatch({ type: 'loaded', conversation: (await response.json()) as OpenConversation });
      announce({ kind: 'branch', conversationId: id });
      const chosen = this.state.messages.find((message) => message.id === messageId);
      if (chosen?.siblings) say(t('Version {n} of {all}', { n: chosen.siblings.index + 1, all: chosen.siblings.count }));
    } catch (error) {
      toastError(error);
    }
  }

  /** The person's word for a call that waits. What is allowed starts a turn that makes exactly this call. */
  async decide(consentId: string, decision: Decision): Promise<void> {
    if (this.state.turn) return;
    this.dispatch({ type: 'decided', consentId, state: decision });
    try {
      if (decision === 'refuse') await writeJson('POST', `/api/consents/${consentId}`, { decision });
      else await this.carryOut(consentId, decision);
    } catch (error) {
      this.dispatch({ type: 'detached' });
      this.dispatch({ type: 'decided', consentId, state: 'waiting' });
      toastError(error);
      // Answered elsewhere, or not at all: the stored conversation knows.
      await this.open();
    }
  }

  private async carryOut(consentId: string, decision: Decision): Promise<void> {
    const text = decision === 'once' ? 'Allow once' : 'Allow in this conversation';
    this.dispatch({ type: 'sent', message: { clientMessageId: newId(), text }, at: new Date().toISOString() });
    const accept = { accept: 'text/event-stream' };
    const outcome = await this.run((signal) => writeJson('POST', `/api/consents/${consentId}`, { decision }, signal, accept));
    if (outcome === 'idle') await this.open();
  }

  /** Which model answers from the next message on. A conversation that does not exist yet says so with its first message. */
  async chooseModel(model: string | null): Promise<void> {
    const { conversationId: id, model: before } = this.state;
    this.dispatch({ type: 'model-chosen', model });
    if (!id) return;
    try {
      await writeJson('PATCH', `/api/conversations/${id}`, { model });
    } catch (error) {
      this.dispatch({ type: 'model-chosen', model: before });
      toastError(error);
    }
  }

  unqueue(clientMessageId: string): void {
    this.dispatch({ type: 'unqueued', clientMessageId });
    this.saveQueue();
  }

  /** Sends what waits, after an error had put it on hold. */
  sendNext(): void {
    const next = this.state.queue[0];
    if (!next || this.state.turn) return;
    this.unqueue(next.clientMessageId);
    void this.deliver(next);
  }

  async stop(): Promise<void> {
    const turn = this.state.turn;
    if (!turn || turn.stopping) return;
    // Nothing was accepted yet and the server is away: stopping means not sending.
    if (!turn.turnId && !turn.connected) return this.following?.abort();
    this.dispatch({ type: 'stopping' });
    if (turn.turnId) await send(`/api/turns/${turn.turnId}/stop`, { method: 'POST' }).catch(ignoreEnded);
    else this.stopWanted = true;
  }

  private async deliver(message: QueuedMessage): Promise<void> {
    this.stopWanted = false;
    this.dispatch({ type: 'sent', message, at: new Date().toISOString() });
    const { conversationId, agent, model } = this.state;
    const key = conversationId ?? NEW_CHAT;
    keepPending(key, message);
    this.settle = () => keepPending(key, null);
    const body: ChatRequest = {
      message: message.text,
      clientMessageId: message.clientMessageId,
      ...(message.editOf && { editOf: message.editOf }),
      ...(conversationId ? { conversationId } : { ...(agent && { agent }), ...(model && { model }) }),
    };
    try {
      const outcome = await this.run((signal) => writeJson('POST', '/api/chat/stream', body, signal));
      if (outcome === 'idle') await this.afterLosingSight(message);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'TURN_RUNNING') return this.waitBehindRunningTurn(message);
      this.refuse(message, error);
    }
  }

  /** Nothing a person wrote is lost: the words go back to the composer, with the reason above them. */
  private refuse(message: QueuedMessage, cause: unknown): void {
    const error = refusalOf(cause);
    this.settle();
    this.dispatch({ type: 'refused', message, error });
    returnToDraft(this.state.conversationId ?? NEW_CHAT, message.text);
    say(error.message);
    // The branch that its new version had replaced on the screen.
    if (message.editOf) void this.open();
  }

  /** The turn could not be followed to its end: either it never began, or the stored conversation knows how it went. */
  private async afterLosingSight(message: QueuedMessage): Promise<void> {
    const accepted = this.state.messages.at(-1)?.id !== message.clientMessageId;
    if (accepted) return this.open();
    this.refuse(message, new Error(t('Not sent.')));
  }

  /** Another tab was faster: its turn comes first, ours waits in the queue. */
  private async waitBehindRunningTurn(message: QueuedMessage): Promise<void> {
    this.dispatch({ type: 'detached' });
    this.settle();
    this.dispatch({ type: 'withdrawn', clientMessageId: message.clientMessageId });
    this.enqueue(message);
    await this.open();
    if (!this.state.turn) this.sendNext();
  }

  private async attach(): Promise<void> {
    const id = this.state.conversationId;
    try {
      const outcome = await this.run((signal) => send(`/api/conversations/${id}/stream`, { signal }));
      const stale = outcome === 'idle' && this.state.messages.some((message) => message.status === 'running');
      if (stale) this.dispatch({ type: 'loaded', conversation: await getJson<OpenConversation>(`/api/conversations/${id}`) });
    } catch (error) {
      // The stored conversation is on screen; only following it live failed. The next look at the tab tries again.
      console.warn('could not follow the running turn:', explain(error));
      this.dispatch({ type: 'detached' });
    }
  }

  private async run(start: (signal: AbortSignal) => Promise<Response>): Promise<'ended' | 'idle'> {
    const controller = new AbortController();
    this.following = controller;
    try {
      const outcome = await follow({
        start,
        resume: (turnId, after, signal) => send(`/api/turns/${turnId}/stream?after=${after}`, { signal }),
        onFrames: (frames) => this.take(frames),
        onConnection: (connected) => this.state.turn && this.dispatch({ type: 'connection', connected }),
        signal: controller.signal,
      });
      if (outcome === 'idle') {
        this.dispatch({ type: 'detached' });
        if (this.state.conversationId) this.events.onTurnLost(this.state.conversationId);
      }
      if (outcome === 'ended') queueMicrotask(() => this.afterTurn());
      return outcome;
    } finally {
      this.following = null;
    }
  }

  private take(frames: Frame[]): void {
    let state = this.state;
    const at = new Date().toISOString();
    for (const frame of frames) {
      if (frame.type === 'message_start') this.announcer.began(frame.messageId);
      state = reduce(state, { type: 'frame', frame, at });
    }
    this.setState(state);
    this.announcer.update(state.messages.at(-1));
    for (const frame of frames) this.react(frame);
  }

  private react(frame: Frame): void {
    if (frame.type === 'message_start') {
      this.settle();
      this.events.onConversation(this, frame.conversationId);
      this.events.onTurnStart(frame.conversationId);
      announce({ kind: 'turn', conversationId: frame.conversationId });
      if (this.stopWanted) void send(`/api/turns/${frame.turnId}/stop`, { method: 'POST' }).catch(ignoreEnded);
      this.stopWanted = false;
    }
    if (frame.type === 'tool_call_end') {
      const call = this.state.messages.flatMap((m) => m.parts).findLast((p) => p.kind === 'tool' && p.call.id === frame.toolCallId);
      if (call?.kind === 'tool') this.events.onToolDone(call.call);
    }
  }

  private afterTurn(): void {
    if (this.state.conversationId) this.events.onTurnEnd(this.state.conversationId);
    void this.settleMessages();
    // After an error the queue waits: more questions to a failing service would fail too.
    if (this.state.messages.at(-1)?.status !== 'error') this.sendNext();
  }

  /** The ids and versions of what was said last: only the server knows them. */
  private async settleMessages(): Promise<void> {
    const id = this.state.conversationId;
    if (!id) return;
    try {
      const conversation = await getJson<OpenConversation>(`/api/conversations/${id}?limit=${LAST_MESSAGES}`);
      this.dispatch({ type: 'settled', conversation });
    } catch (error) {
      // Editing waits for the next look at this conversation.
      console.warn('could not read the last messages:', explain(error));
    }
  }

  private enqueue(message: QueuedMessage): void {
    this.dispatch({ type: 'queued', message });
    this.saveQueue();
  }

  private saveQueue(): void {
    const { conversationId, queue } = this.state;
    if (!conversationId) return;
    keepQueue(conversationId, queue);
  }

  /** The refused words were changed or thrown away: the notice about them goes too. */
  excuse(): void {
    this.dispatch({ type: 'excused' });
  }

  rename(title: string): void {
    this.dispatch({ type: 'renamed', title });
  }

  private dispatch(action: Action): void {
    this.setState(reduce(this.state, action));
  }

  private setState(state: ChatState): void {
    if (state === this.state) return;
    this.state = state;
    this.listeners.forEach((listener) => listener());
  }

  private setLoad(load: LoadState): void {
    this.load = load;
    this.listeners.forEach((listener) => listener());
  }
}

function wordsOf(message: ChatMessage): string {
  return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** Stopping what has just ended by itself is not a failure. */
function ignoreEnded(error: unknown): void {
  if (error instanceof ApiError && [404, 409, 410].includes(error.status)) return;
  console.warn('could not stop the turn:', explain(error));
}
