// Requests to the server: one function to send them, one kind of error.
import { t } from '../i18n';
import type { Detail, ErrorBody } from './types';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Detail[] = [],
    /** From `Retry-After`: seconds to wait before the next request. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** The server could not be reached. The same request may be sent again later. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super(t('Segue cannot be reached right now.'), { cause });
    this.name = 'Unreachable';
  }
}

type Listener = () => void;
const signedOutListeners = new Set<Listener>();

/** Called whenever the server answers 401: the session has ended, in this tab or elsewhere. */
export function onSignedOut(listener: Listener): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

let reachable = true;
const reachableListeners = new Set<Listener>();

/** Whether the last request got any response, as a store for `useSyncExternalStore`. */
export const reachability = {
  get: () => reachable,
  subscribe: (listener: Listener): (() => void) => {
    reachableListeners.add(listener);
    return () => reachableListeners.delete(listener);
  },
};

function noteReachable(now: boolean): void {
  if (reachable === now) return;
  reachable = now;
  reachableListeners.forEach((listener) => listener());
}

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    noteReachable(false);
    throw new Unreachable(cause);
  }
  noteReachable(true);
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith('/api/auth/')) signedOutListeners.forEach((listener) => listener());
  throw await readError(response);
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, { headers: { accept: 'application/json' }, signal });
  return (await response.json()) as T;
}

/** Every page of a list; `path` has a query already. */
export async function getPages<P extends { next?: string | number | null }>(path: string, signal?: AbortSignal): Promise<P[]> {
  const pages: P[] = [];
  let cursor = '';
  for (;;) {
    const page = await getJson<P>(path + cursor, signal);
    pages.push(page);
    if (page.next == null) return pages;
    cursor = `&cursor=${page.next}`;
  }
}

export function writeJson(
  method: 'POST' | 'PATCH' | 'PUT',
  path: string,
  body: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  return send(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  });
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return readBody<T>(await writeJson('POST', path, body));
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return readBody<T>(await writeJson('PATCH', path, body));
}

export async function putJson<T>(path: string, body: unknown): Promise<T> {
  return readBody<T>(await writeJson('PUT', path, body));
}

/** Removes a part of something and answers with the rest. */
export async function removeJson<T>(path: string): Promise<T> {
  return readBody<T>(await send(path, { method: 'DELETE' }));
}

export async function remove(path: string): Promise<void> {
  await send(path, { method: 'DELETE' });
}

/** The message for the user when something failed: the server's message, or ours. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) {
    const details = error.details.map((detail) => detail.message).filter((message) => !error.message.endsWith(message));
    return [error.message, ...details].join(' ');
  }
  if (error instanceof Error && error.message) return error.message;
  return t('Something went wrong.');
}

async function readBody<T>(response: Response): Promise<T> {
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function readError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after'));
  const seconds = Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined;
  try {
    const { error } = (await response.json()) as ErrorBody;
    return new ApiError(response.status, error.code, error.message, error.details, seconds);
  } catch {
    // A proxy in front of Segue has other error bodies; only the status is reliable.
    return new ApiError(
      response.status,
      `HTTP_${response.status}`,
      t('The server answered {status}.', { status: response.status }),
      [],
      seconds,
    );
  }
}
