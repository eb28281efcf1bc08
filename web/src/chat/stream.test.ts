import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, Unreachable } from '../api/client';
import type { Frame } from '../api/types';
import { RECORDINGS } from './recorded';
import { follow, sseParser } from './stream';

const frames = RECORDINGS.discover!.frames;
const sse = (list: Frame[]) => list.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');

/** A response that delivers these pieces and then ends, or breaks. */
function response(pieces: string[], breaks = false): Response {
  const encoder = new TextEncoder();
  const waiting = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    // Piece by piece: an error would throw away what is still waiting in the stream's own queue.
    pull(controller) {
      const piece = waiting.shift();
      if (piece !== undefined) controller.enqueue(encoder.encode(piece));
      else if (breaks) controller.error(new TypeError('network error'));
      else controller.close();
    },
  });
  return new Response(body);
}

async function followAll(start: () => Promise<Response>, resume: (turnId: string, after: number) => Promise<Response>) {
  const seen: Frame[] = [];
  const connections: boolean[] = [];
  const outcome = follow({
    start,
    resume,
    onFrames: (batch) => seen.push(...batch),
    onConnection: (connected) => connections.push(connected),
    signal: new AbortController().signal,
  });
  // A refusal is looked at by the test itself; until then it must not count as unhandled.
  outcome.catch(() => undefined);
  await vi.runAllTimersAsync();
  return { outcome: await outcome, seen, connections };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('following a turn', () => {
  it('hands over every frame once, in order', async () => {
    const { outcome, seen } = await followAll(
      async () => response([sse(frames)]),
      () => Promise.reject(new Error('not needed')),
    );
    expect(outcome).toBe('ended');
    expect(seen).toEqual(frames);
  });

  it.each([1, 2, 7, 16])('survives a connection that breaks every %i frames', async (size) => {
    const asked: number[] = [];
    const part = (after: number) => response([sse(frames.slice(after, after + size))], true);
    const { outcome, seen, connections } = await followAll(
      async () => part(0),
      async (_turn, after) => {
        asked.push(after);
        return part(after);
      },
    );
    expect(outcome).toBe('ended');
    expect(seen).toEqual(frames);
    expect(asked[0]).toBe(size);
    expect(connections).toContain(false);
  });

  it('drops what a resumed stream repeats', async () => {
    const { seen } = await followAll(
      async () => response([sse(frames.slice(0, 5))], true),
      async () => response([sse(frames)]),
    );
    expect(seen).toEqual(frames);
  });

  it('sends the same request again when the server was away before anything arrived', async () => {
    const start = vi
      .fn()
      .mockRejectedValueOnce(new Unreachable('down'))
      .mockRejectedValueOnce(new Unreachable('down'))
      .mockResolvedValue(response([sse(frames)]));
    const { outcome } = await followAll(start, () => Promise.reject(new Error('not needed')));
    expect(outcome).toBe('ended');
    expect(start).toHaveBeenCalledTimes(3);
  });

  it('gives a refusal to start back to the caller', async () => {
    const refusal = new ApiError(429, 'RATE_LIMITED', 'Too many requests.');
    await expect(
      followAll(
        () => Promise.reject(refusal),
        () => Promise.reject(refusal),
      ),
    ).rejects.toBe(refusal);
  });

  it('says idle when nothing runs, and when the turn is too old to be told again', async () => {
    const nothing = await followAll(
      async () => new Response(null, { status: 204 }),
      () => Promise.reject(new Error('not needed')),
    );
    expect(nothing.outcome).toBe('idle');
    const tooOld = await followAll(
      async () => response([sse(frames.slice(0, 3))], true),
      () => Promise.reject(new ApiError(410, 'GONE', 'Gone.')),
    );
    expect(tooOld.outcome).toBe('idle');
  });
});

describe('reading server-sent events', () => {
  it.each([1, 2, 3, 5, 1000])('does not care where the bytes are cut (%i at a time)', (size) => {
    const text = ': keep awake\n\nid: 1\ndata: {"a":1}\n\nevent: x\r\ndata: two\r\ndata: lines\r\n\r\n:\n\n';
    const seen: string[] = [];
    const parse = sseParser((data) => seen.push(data));
    for (let at = 0; at < text.length; at += size) parse(text.slice(at, at + size));
    expect(seen).toEqual(['{"a":1}', 'two\nlines']);
  });
});
