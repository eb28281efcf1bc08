// Following one turn to its end, whatever happens to the connection in between.
import { ApiError, Unreachable } from '../api/client';
import type { Frame } from '../api/types';

/** The server sends a comment every 15 s; two missed ones and a bit mean the line is dead though nothing said so. */
const SILENCE_MS = 40_000;
const BACKOFF_MS = [300, 1_000, 2_000, 4_000, 8_000];

export interface Follow {
  /** Opens the stream the first time. Must be harmless to repeat: it is, when nothing arrived before a failure. */
  start: (signal: AbortSignal) => Promise<Response>;
  /** Opens it again after `seq` N. */
  resume: (turnId: string, after: number, signal: AbortSignal) => Promise<Response>;
  onFrames: (frames: Frame[]) => void;
  onConnection: (connected: boolean) => void;
  signal: AbortSignal;
}

/**
 * `ended`: the last event was seen. `idle`: there is no such turn (any more); the stored conversation is the record.
 * Throws `ApiError` when the server refuses to start.
 */
export async function follow(job: Follow): Promise<'ended' | 'idle'> {
  let turnId: string | null = null;
  let lastSeq = 0;
  let ended = false;
  let failures = 0;

  const take = (frames: Frame[]) => {
    const fresh = frames.filter((frame) => frame.seq > lastSeq);
    for (const frame of fresh) {
      lastSeq = frame.seq;
      if (frame.type === 'message_start') turnId = frame.turnId;
      if (frame.type === 'message_end' || frame.type === 'error') ended = true;
    }
    failures = 0;
    job.onFrames(fresh);
  };

  for (;;) {
    try {
      const response: Response = turnId === null ? await job.start(job.signal) : await job.resume(turnId, lastSeq, job.signal);
      if (response.status === 204) return 'idle';
      job.onConnection(true);
      await readFrames(response, take, job.signal);
    } catch (error) {
      if (job.signal.aborted) return 'idle';
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 410);
      if (gone && turnId !== null) return 'idle';
      if (!worthWaiting(error, turnId !== null)) throw error;
    }
    // Also when the line broke right behind the last event: there is nothing left to fetch.
    if (ended) return 'ended';
    job.onConnection(false);
    await pause(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 8_000, job.signal);
    if (job.signal.aborted) return 'idle';
  }
}

/** Turns a byte stream into frames and hands them over at most once per painted picture. */
export async function readFrames(response: Response, take: (frames: Frame[]) => void, signal: AbortSignal): Promise<void> {
  if (!response.body) throw new Unreachable('the answer has no body');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const batch = perPicture(take);
  const parse = sseParser((data) => batch.add(JSON.parse(data) as Frame));
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read());
      if (done) return;
      parse(decoder.decode(value, { stream: true }));
    }
  } catch (cause) {
    if (cause instanceof SyntaxError) throw cause;
    throw new Unreachable(cause);
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
    batch.flush();
  }
}

/** Server-sent events as far as we use them: `data:` lines, events ended by an empty line, everything else ignored. */
export function sseParser(onData: (data: string) => void): (chunk: string) => void {
  let rest = '';
  let data: string[] = [];
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '' || data.length === 0) continue;
      onData(data.join('\n'));
      data = [];
    }
  };
}

/** 200 events a second are at most 60 renders a second; a hidden tab paints nothing, so a timer takes over there. */
function perPicture<T>(take: (items: T[]) => void) {
  let items: T[] = [];
  let cancel: (() => void) | null = null;
  const flush = () => {
    cancel?.();
    cancel = null;
    if (items.length === 0) return;
    const ready = items;
    items = [];
    take(ready);
  };
  const schedule = () => {
    if (document.hidden) {
      const timer = setTimeout(flush, 100);
      return () => clearTimeout(timer);
    }
    const picture = requestAnimationFrame(flush);
    // A tab hidden after this point would never paint the picture it was promised.
    const timer = setTimeout(flush, 250);
    return () => {
      cancelAnimationFrame(picture);
      clearTimeout(timer);
    };
  };
  return {
    add(item: T) {
      items.push(item);
      cancel ??= schedule();
    },
    flush,
  };
}

/** A refusal to start is for the person to see; a refusal to go on with what runs is a hiccup to sit out. */
function worthWaiting(error: unknown, running: boolean): boolean {
  if (error instanceof Unreachable) return true;
  return running && error instanceof ApiError && [429, 502, 503, 504].includes(error.status);
}

function withDeadline<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the line went silent')), SILENCE_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Waits, but not a moment longer than the network or the person needs us back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}
