// What a conversation looks like after each thing that happens to it: one pure function, for live and for stored.
import {
  agentOf,
  type AgentId,
  type Frame,
  type MessageStatus,
  type OpenConversation,
  type StoredMessage,
  type UsageFrame,
} from '../api/types';
import { appendText, asRecord, failure, interrupted, startedCall, success, updateCall, type Part } from './parts';

export type { Part, ToolCall } from './parts';

export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: Part[];
  status: MessageStatus;
  usage?: UsageFrame;
  error?: Failure;
  /** When it was written, where that is known. */
  at?: string;
}

/** Why there is no (whole) answer: the server's own code, or the page's where the server never spoke. */
export interface Failure {
  code: string;
  message: string;
  retryable: boolean;
  /** The server asks for patience until then (milliseconds since 1970). */
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
  agent: AgentId;
  title: string | null;
  messages: ChatMessage[];
  turn: Turn | null;
  queue: QueuedMessage[];
  refusal: Refusal | null;
}

export type Action =
  | { type: 'loaded'; conversation: OpenConversation }
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
  | { type: 'renamed'; title: string };

export function emptyChat(agent: AgentId, conversationId: string | null = null): ChatState {
  return { conversationId, agent, title: null, messages: [], turn: null, queue: [], refusal: null };
}

export function reduce(state: ChatState, action: Action): ChatState {
  switch (action.type) {
    case 'loaded':
      return loaded(state, action.conversation);
    case 'sent':
      return {
        ...state,
        messages: [...without(state, action.message), { ...userMessage(action.message), at: action.at }],
        turn: newTurn(),
        refusal: null,
      };
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
  }
}

/** A stored message in the same shape the live one had when it ended. */
export function fromStored(stored: StoredMessage): ChatMessage {
  let parts: Part[] = [];
  for (const block of stored.content) {
    if (block.type === 'text') parts = appendText(parts, block.text);
    if (block.type === 'tool_use') parts = [...parts, startedCall(block.id, block.name, block.input)];
    if (block.type === 'tool_result') {
      parts = updateCall(parts, block.tool_use_id, block.is_error ? failure(block.content) : success(block.content));
    }
  }
  return {
    id: stored.id,
    role: stored.role,
    parts,
    status: stored.status,
    ...usageOf(stored),
    ...(stored.error && { error: stored.error }),
    ...(stored.createdAt && { at: stored.createdAt }),
  };
}

/** Only what the stream told as well: nothing for a broken turn, and no more than the two sums. */
function usageOf({ usage, status }: StoredMessage): Pick<ChatMessage, 'usage'> {
  if (!usage || status === 'error' || status === 'running') return {};
  return { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } };
}

export function textOf(message: ChatMessage): string {
  return message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
}

function loaded(state: ChatState, conversation: OpenConversation): ChatState {
  const base = { ...state, conversationId: conversation.id, agent: agentOf(conversation.agent), title: conversation.title };
  // While a turn is followed live, what this page has is newer than what was stored when the answer was written.
  if (state.turn) return base;
  return { ...base, messages: conversation.messages.map(fromStored) };
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

function applyFrame(message: ChatMessage, frame: Frame): ChatMessage {
  switch (frame.type) {
    case 'message_start':
      return message;
    case 'text_delta':
      return { ...message, parts: appendText(message.parts, frame.content) };
    case 'tool_call_start':
      return { ...message, parts: [...message.parts, startedCall(frame.toolCallId, frame.toolName, frame.input)] };
    case 'tool_call_end': {
      const outcome = success({ ...asRecord(frame.output), summary: frame.summary, durationMs: frame.durationMs });
      return { ...message, parts: updateCall(message.parts, frame.toolCallId, outcome) };
    }
    case 'tool_call_error':
      return { ...message, parts: updateCall(message.parts, frame.toolCallId, failure(frame)) };
    case 'message_end':
      return { ...message, status: frame.stopReason, usage: frame.usage };
    case 'error':
      return {
        ...message,
        status: 'error',
        error: { code: frame.code, message: frame.message, retryable: frame.retryable },
        parts: message.parts.map(interrupted),
      };
  }
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
