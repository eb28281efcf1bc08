// What a conversation looks like after each thing that happens to it: one pure function, for live and for stored.
import type { AgentId, ConsentLine, Frame, MessageStatus, OpenConversation, Siblings, StoredMessage, UsageFrame } from '../api/types';
import { shownTitle } from '../history/shown-title';
import { appendText, failure, interrupted, startedCall, success, updateCall, type Part } from './parts';

export type { Part, ToolCall } from './parts';

export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: Part[];
  status: MessageStatus;
  usage?: UsageFrame;
  /** In US dollars, where the price of the model is known. */
  costUsd?: number;
  error?: Failure;
  /** The model's reasoning. A blank line separates what it thought before different parts of the answer. */
  thought?: string;
  /** Nothing has come since the last piece of reasoning: the next piece is the same thought. */
  thinking?: boolean;
  /** How much of the prompt the model's server has read, from 0 to 1, while it says so. */
  reading?: number;
  /** When it was written, where that is known. */
  at?: string;
  /** The versions that stand in its place; absent when there is one. */
  siblings?: Siblings;
  /** Of a question: the id is the server's, so it can be edited. */
  stored?: boolean;
  /** Stays the same when the server gives the message its id. */
  key?: string;
}

export type ConsentState = 'waiting' | 'once' | 'conversation' | 'refuse';

/** Why there is no (whole) answer: the server's own code, or the page's where the server never spoke. */
export interface Failure {
  code: string;
  message: string;
  retryable: boolean;
  /** The server asks to wait until then (milliseconds since 1970). */
  retryAt?: number;
}

/** A message the server did not take. Its words are back in the composer. */
export interface Refusal {
  message: QueuedMessage;
  error: Failure;
}

export interface QueuedMessage {
  clientMessageId: string;
  text: string;
  /** The stored question that these words replace, or ask once more. */
  editOf?: string;
}

export interface Turn {
  /** Unknown until the server says `message_start`. */
  turnId: string | null;
  messageId: string | null;
  lastSeq: number;
  connected: boolean;
  stopping: boolean;
}

export interface ChatState {
  conversationId: string | null;
  /** Null: the one that the server takes when none is named. */
  agent: AgentId | null;
  title: string | null;
  /** The model that was chosen for it; null: the usual one. */
  model: string | null;
  messages: ChatMessage[];
  turn: Turn | null;
  queue: QueuedMessage[];
  refusal: Refusal | null;
  /** What became of the calls that waited for the person, by consent id. */
  consents: Record<string, ConsentState>;
}

export type Action =
  | { type: 'loaded'; conversation: OpenConversation }
  | { type: 'settled'; conversation: OpenConversation }
  | { type: 'decided'; consentId: string; state: ConsentState }
  | { type: 'sent'; message: QueuedMessage; at?: string }
  | { type: 'attached' }
  | { type: 'detached' }
  | { type: 'frame'; frame: Frame; at?: string }
  | { type: 'connection'; connected: boolean }
  | { type: 'stopping' }
  | { type: 'refused'; message: QueuedMessage; error: Failure }
  | { type: 'excused' }
  | { type: 'withdrawn'; clientMessageId: string }
  | { type: 'queued'; message: QueuedMessage }
  | { type: 'unqueued'; clientMessageId: string }
  | { type: 'renamed'; title: string }
  | { type: 'model-chosen'; model: string | null };

export function emptyChat(agent: AgentId | null, conversationId: string | null = null): ChatState {
  return { conversationId, agent, title: null, model: null, messages: [], turn: null, queue: [], refusal: null, consents: {} };
}

export function reduce(state: ChatState, action: Action): ChatState {
  switch (action.type) {
    case 'loaded':
      return loaded(state, action.conversation);
    case 'sent':
      return {
        ...state,
        messages: withQuestion(state, action.message, action.at),
        turn: newTurn(),
        refusal: null,
      };
    case 'settled':
      return settled(state, action.conversation);
    case 'decided':
      return { ...state, consents: { ...state.consents, [action.consentId]: action.state } };
    case 'attached':
      return state.turn ? state : { ...state, turn: newTurn() };
    case 'detached':
      return { ...state, turn: null };
    case 'frame':
      return takeFrame(state, action.frame, action.at);
    case 'connection':
      return state.turn ? { ...state, turn: { ...state.turn, connected: action.connected } } : state;
    case 'stopping':
      return state.turn ? { ...state, turn: { ...state.turn, stopping: true } } : state;
    case 'refused':
      return {
        ...state,
        turn: null,
        messages: without(state, action.message),
        refusal: { message: action.message, error: action.error },
      };
    case 'excused':
      return state.refusal ? { ...state, refusal: null } : state;
    case 'withdrawn':
      return { ...state, messages: state.messages.filter((message) => message.id !== action.clientMessageId) };
    case 'queued':
      return { ...state, queue: [...state.queue, action.message] };
    case 'unqueued':
      return { ...state, queue: state.queue.filter((queued) => queued.clientMessageId !== action.clientMessageId) };
    case 'renamed':
      return { ...state, title: action.title };
    case 'model-chosen':
      return { ...state, model: action.model };
  }
}

/** A stored message in the same shape the live one had when it ended. */
export function fromStored(stored: StoredMessage): ChatMessage {
  let parts: Part[] = [];
  const thoughts: string[] = [];
  const told = new Map(stored.calls?.map((call) => [call.id, call]));
  for (const block of stored.content) {
    if (block.type === 'reasoning') thoughts.push(block.text);
    if (block.type === 'text') parts = appendText(parts, block.text);
    if (block.type === 'tool_use') parts = [...parts, startedCall(block.id, block.name, block.input, told.get(block.id)?.title)];
    if (block.type === 'tool_result') {
      const { tool_use_id: id, content, is_error: isError } = block;
      parts = updateCall(parts, id, isError ? failure(content) : success(content, told.get(id) ?? {}));
    }
  }
  return {
    id: stored.id,
    role: stored.role,
    parts,
    status: stored.status,
    ...(thoughts.length > 0 && { thought: thoughts.join('\n\n') }),
    ...(stored.role === 'user' && { stored: true }),
    ...(stored.siblings && { siblings: stored.siblings }),
    ...usageOf(stored),
    ...(stored.error && { error: stored.error }),
    ...(stored.createdAt && { at: stored.createdAt }),
  };
}

/** Only what the stream told as well: nothing for a broken turn, and no more than the two sums. */
function usageOf({ usage, status, costUsd }: StoredMessage): Pick<ChatMessage, 'usage' | 'costUsd'> {
  if (!usage || status === 'error' || status === 'running') return {};
  return { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }, ...costOf({ costUsd }) };
}

function costOf({ costUsd }: { costUsd?: number | null | undefined }): Pick<ChatMessage, 'costUsd'> {
  return typeof costUsd === 'number' ? { costUsd } : {};
}

export function textOf(message: ChatMessage): string {
  return message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
}

function loaded(state: ChatState, conversation: OpenConversation): ChatState {
  const base = {
    ...state,
    conversationId: conversation.id,
    agent: conversation.agent,
    title: shownTitle(conversation),
    model: conversation.model ?? null,
    consents: consentsOf(state, conversation),
  };
  // While a turn is followed live, what this page has is newer than what was stored when the answer was written.
  if (state.turn) return base;
  const known = new Map(state.messages.map((message) => [message.id, message]));
  const kept = (message: ChatMessage): ChatMessage => {
    const { key } = known.get(message.id) ?? {};
    return { ...message, ...(key && { key }) };
  };
  return { ...base, messages: conversation.messages.map(fromStored).map(kept) };
}

/** What the server has stored of the last turn: the question's own id, the versions beside it and its answer. */
function settled(state: ChatState, { messages: stored, ...conversation }: OpenConversation): ChatState {
  const byId = new Map(stored.map((message) => [message.id, message]));
  const messages = state.messages.map((message, index) => {
    const answer = message.role === 'user' ? state.messages[index + 1] : undefined;
    const own = byId.get(message.id) ?? byId.get(byId.get(answer?.id ?? '')?.parentId ?? '');
    if (!own || own.role !== message.role) return message;
    const { siblings: _earlier, ...rest } = message;
    const words = own.role === 'user' ? { parts: fromStored(own).parts, stored: true, key: message.key ?? message.id } : {};
    return { ...rest, ...words, id: own.id, ...(own.siblings && { siblings: own.siblings }) };
  });
  return { ...state, messages, consents: consentsOf(state, { messages: stored, ...conversation }) };
}

function consentsOf(state: ChatState, { consents = [] }: OpenConversation): Record<string, ConsentState> {
  return { ...state.consents, ...Object.fromEntries(consents.map((line) => [line.id, stateOf(line)])) };
}

function stateOf({ decided, scope }: ConsentLine): ConsentState {
  return decided ? (scope ?? 'refuse') : 'waiting';
}

/** A new question comes last. One that is asked again takes the place of what was there; that is kept by the server. */
function withQuestion(state: ChatState, message: QueuedMessage, at?: string): ChatMessage[] {
  const earlier = without(state, message);
  const question = { ...userMessage(message), at };
  const place = earlier.findIndex((existing) => existing.id === message.editOf);
  const edited = earlier[place];
  if (!edited) return [...earlier, question];
  // The same words: only the answer is new.
  return [...earlier.slice(0, place), textOf(edited) === message.text ? edited : question];
}

function takeFrame(state: ChatState, frame: Frame, at?: string): ChatState {
  const turn = state.turn ?? newTurn();
  // A reconnect may overlap with what was already seen; `seq` has no gaps, so older frames are simply repeats.
  if (frame.seq <= turn.lastSeq) return state;
  const seen = { ...turn, lastSeq: frame.seq, connected: true };

  if (frame.type === 'message_start') {
    return {
      ...state,
      conversationId: frame.conversationId,
      messages: startMessage(state.messages, frame.messageId, at),
      turn: { ...seen, turnId: frame.turnId, messageId: frame.messageId },
    };
  }
  const messages = state.messages.map((message) => (message.id === turn.messageId ? applyFrame(message, frame) : message));
  const ended = frame.type === 'message_end' || frame.type === 'error';
  return { ...state, messages, turn: ended ? null : seen };
}

/** Replays begin here: whatever was stored of this message is told again from its first event. */
function startMessage(messages: ChatMessage[], id: string, at?: string): ChatMessage[] {
  const known = messages.find((message) => message.id === id)?.at ?? at;
  const fresh: ChatMessage = { id, role: 'assistant', parts: [], status: 'running', ...(known && { at: known }) };
  return messages.some((message) => message.id === id)
    ? messages.map((message) => (message.id === id ? fresh : message))
    : [...messages, fresh];
}

/** Whatever comes after `reading`: the prompt is read. Whatever comes after `reasoning`: the thought is over. */
function applyFrame({ reading: _read, thinking, ...message }: ChatMessage, frame: Frame): ChatMessage {
  switch (frame.type) {
    case 'reading':
      return { ...message, ...(thinking && { thinking }), reading: frame.tokensRead / Math.max(frame.tokensTotal, 1) };
    case 'message_start':
      return message;
    case 'text_delta':
      return { ...message, parts: appendText(message.parts, frame.content) };
    case 'reasoning':
      return { ...message, thinking: true, thought: withThought(message.thought, frame.content, thinking) };
    case 'tool_call_start':
      return { ...message, parts: [...message.parts, startedCall(frame.toolCallId, frame.toolName, frame.input, frame.title)] };
    case 'tool_call_end':
      return { ...message, parts: updateCall(message.parts, frame.toolCallId, success(frame.output, frame)) };
    case 'tool_call_error':
      return { ...message, parts: updateCall(message.parts, frame.toolCallId, failure(frame)) };
    case 'message_end':
      return { ...message, status: frame.stopReason, usage: frame.usage, ...costOf(frame) };
    case 'error':
      return {
        ...message,
        status: 'error',
        error: { code: frame.code, message: frame.message, retryable: frame.retryable },
        parts: message.parts.map(interrupted),
      };
  }
}

/** The server stores a thought as one block, and the page separates blocks by a blank line. */
function withThought(earlier: string | undefined, piece: string, goesOn = false): string {
  return earlier === undefined ? piece : earlier + (goesOn ? '' : '\n\n') + piece;
}

function userMessage({ clientMessageId, text }: QueuedMessage): ChatMessage {
  return { id: clientMessageId, role: 'user', parts: [{ kind: 'text', text }], status: 'complete' };
}

/** Sending the same message again (after a refusal) moves it to the end instead of doubling it. */
function without(state: ChatState, message: QueuedMessage): ChatMessage[] {
  return state.messages.filter((existing) => existing.id !== message.clientMessageId);
}

function newTurn(): Turn {
  return { turnId: null, messageId: null, lastSeq: 0, connected: true, stopping: false };
}
