// The parts of a message: text, and calls with their outcome.
import { t } from '../i18n';

export interface ToolCall {
  id: string;
  name: string;
  /** The tool's name for users. */
  title?: string;
  input: unknown;
  status: 'running' | 'done' | 'failed';
  summary?: string;
  /** The number of results, as the server counts them. */
  count?: number;
  durationMs?: number;
  /** Absent when there is nothing to open: no results, or not finished. */
  output?: Record<string, unknown>;
  error?: { message: string; retryable: boolean; wasRetried: boolean };
  /** The call waits, or waited, for the person's consent. */
  consentId?: string;
}

export type Part = { kind: 'text'; text: string } | { kind: 'tool'; call: ToolCall };

export function appendText(parts: Part[], text: string): Part[] {
  if (text === '') return parts;
  const last = parts.at(-1);
  return last?.kind === 'text' ? [...parts.slice(0, -1), { kind: 'text', text: last.text + text }] : [...parts, { kind: 'text', text }];
}

export function startedCall(id: string, name: string, input: unknown, title?: string | null): Part {
  return { kind: 'tool', call: { id, name, input, status: 'running', ...(title && { title }) } };
}

export function updateCall(parts: Part[], id: string, outcome: Partial<ToolCall>): Part[] {
  return parts.map((part) => (part.kind === 'tool' && part.call.id === id ? { kind: 'tool', call: { ...part.call, ...outcome } } : part));
}

/** What the server says about a call beside its output: in the stream with the end of the call, and in a stored message. */
export interface Told {
  summary?: string | null;
  resultCount?: number | null;
  durationMs?: number;
}

export function success(content: unknown, told: Told): Partial<ToolCall> {
  const { summary = told.summary, durationMs = told.durationMs, ...output } = asRecord(content);
  const count = told.resultCount;
  // An empty result is streamed without its output but stored with it: both mean "nothing to open".
  const isEmpty = count === 0 || Object.keys(output).length === 0;
  return {
    status: 'done',
    ...(typeof summary === 'string' && { summary }),
    ...(typeof count === 'number' && { count }),
    ...(typeof durationMs === 'number' && { durationMs }),
    ...(!isEmpty && { output }),
  };
}

export function failure(content: unknown): Partial<ToolCall> {
  const { error, retryable, wasRetried, durationMs, consentId } = asRecord(content);
  return {
    status: 'failed',
    error: { message: String(error ?? t('Failed')), retryable: retryable === true, wasRetried: wasRetried === true },
    ...(typeof durationMs === 'number' && { durationMs }),
    ...(typeof consentId === 'string' && { consentId }),
  };
}

/** The error of a call that was cut off. It is stored with the call in English and translated where it is shown. */
export const INTERRUPTED = 'Interrupted';

/** When a turn breaks, a card must not spin for ever. */
export function interrupted(part: Part): Part {
  if (part.kind === 'text' || part.call.status !== 'running') return part;
  const error = { message: INTERRUPTED, retryable: false, wasRetried: false };
  return { kind: 'tool', call: { ...part.call, status: 'failed', error } };
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
