import { describe, expect, it } from 'vitest';
import type { Frame } from '../api/types';
import { RECORDINGS, type Recording } from './recorded';
import { emptyChat, fromStored, reduce, textOf, type ChatState } from './reduce';

const play = (frames: Frame[], state = emptyChat('discover')): ChatState =>
  frames.reduce((current, frame) => reduce(current, { type: 'frame', frame }), state);
const recorded = (name: string): Recording => {
  const recording = RECORDINGS[name];
  if (!recording) throw new Error(`no recording called ${name}`);
  return recording;
};

describe.each(Object.entries(RECORDINGS))('the recorded turn "%s"', (_name, { frames, conversation }) => {
  const stored = conversation.messages.find((message) => message.role === 'assistant');
  if (!stored) throw new Error('the recording has no answer');

  it('looks the same live and reopened', () => {
    expect(play(frames).messages.at(-1)).toEqual({ ...fromStored(stored), at: undefined });
  });

  it('looks the same when every frame arrives twice', () => {
    expect(play(frames.flatMap((frame) => [frame, frame]))).toEqual(play(frames));
  });

  it('looks the same when joined in the middle and told again from its beginning', () => {
    const half = Math.floor(frames.length / 2);
    const partly = play(frames.slice(0, half)).messages;
    const reloaded = { ...emptyChat('discover'), messages: partly };
    expect(play(frames, reloaded)).toEqual(play(frames));
  });

  it('leaves no turn and no spinning card behind', () => {
    const { turn, messages } = play(frames);
    expect(turn).toBeNull();
    const running = messages.flatMap((message) => message.parts).filter((part) => part.kind === 'tool' && part.call.status === 'running');
    expect(running).toEqual([]);
  });
});

describe('a conversation', () => {
  it('keeps parts that did not change identical, so they are not drawn again', () => {
    const { frames } = recorded('discover');
    const end = frames.findIndex((frame) => frame.type === 'tool_call_end');
    const before = play(frames.slice(0, end + 1));
    const after = play(frames.slice(end + 1, end + 4), before);
    expect(after.messages.at(-1)?.parts[1]).toBe(before.messages.at(-1)?.parts[1]);
  });

  it('shows a result without anything in it as nothing to open, live and stored', () => {
    const start: Frame = { seq: 1, type: 'message_start', messageId: 'm', conversationId: 'c', turnId: 't' };
    const call: Frame = { seq: 2, type: 'tool_call_start', toolCallId: 'x', toolName: 'semanticSearch', input: { query: 'q' } };
    const end: Frame = {
      seq: 3,
      type: 'tool_call_end',
      toolCallId: 'x',
      summary: "No tracks found matching 'q'",
      resultCount: 0,
      durationMs: 7,
    };
    const live = play([start, call, end]).messages.at(-1)?.parts;
    const stored = fromStored({
      id: 'm',
      role: 'assistant',
      status: 'running',
      createdAt: '',
      calls: [{ id: 'x', summary: end.summary, resultCount: 0 }],
      content: [
        { type: 'tool_use', id: 'x', name: 'semanticSearch', input: { query: 'q' } },
        { type: 'tool_result', tool_use_id: 'x', content: { tracks: [], query: 'q', totalFound: 0, summary: end.summary, durationMs: 7 } },
      ],
    });
    expect(live).toEqual(stored.parts);
    expect(live?.[0]).not.toHaveProperty('call.output');
  });

  it('takes the title, the summary and the number of results of a call from the server, live and stored', () => {
    const output = { rooms: ['kitchen', 'hall'], tracks: [], summary: 'Two rooms are lit', durationMs: 7 };
    const live = play([
      { seq: 1, type: 'message_start', messageId: 'm', conversationId: 'c', turnId: 't' },
      { seq: 2, type: 'tool_call_start', toolCallId: 'x', toolName: 'home__lights', title: 'Lights (home)', input: {} },
      { seq: 3, type: 'tool_call_end', toolCallId: 'x', summary: output.summary, resultCount: 2, durationMs: 7, output },
    ]).messages.at(-1)?.parts;
    const stored = fromStored({
      id: 'm',
      role: 'assistant',
      status: 'complete',
      createdAt: '',
      calls: [{ id: 'x', title: 'Lights (home)', summary: output.summary, resultCount: 2 }],
      content: [
        { type: 'tool_use', id: 'x', name: 'home__lights', input: {} },
        { type: 'tool_result', tool_use_id: 'x', content: output },
      ],
    });
    expect(live).toEqual(stored.parts);
    expect(live?.[0]).toMatchObject({ call: { title: 'Lights (home)', count: 2, output: { rooms: ['kitchen', 'hall'] } } });
  });

  it('marks a tool as interrupted when the turn breaks under it', () => {
    const { messages } = play([
      { seq: 1, type: 'message_start', messageId: 'm', conversationId: 'c', turnId: 't' },
      { seq: 2, type: 'tool_call_start', toolCallId: 'x', toolName: 'tidalSearch', input: {} },
      { seq: 3, type: 'error', code: 'TIMEOUT', message: 'The model went silent.', retryable: true },
    ]);
    expect(messages[0]?.parts[0]).toMatchObject({ call: { status: 'failed', error: { message: 'Interrupted' } } });
  });

  it('takes a refused message out of the thread, and back in once when it is sent again', () => {
    const message = { clientMessageId: 'one', text: 'hello' };
    let state = reduce(emptyChat('discover'), { type: 'sent', message });
    state = reduce(state, { type: 'refused', message, error: { code: 'RATE_LIMITED', message: 'Wait.', retryable: true } });
    expect(state.turn).toBeNull();
    expect(state.messages).toEqual([]);
    expect(state.refusal).toMatchObject({ message, error: { code: 'RATE_LIMITED' } });
    state = reduce(state, { type: 'sent', message });
    expect(state.messages.map(textOf)).toEqual(['hello']);
    expect(state.refusal).toBeNull();
  });

  it('does not let a stored copy overwrite a turn that is being followed', () => {
    const { frames, conversation } = recorded('discover');
    const live = play(frames.slice(0, 10));
    const state = reduce(live, { type: 'loaded', conversation: { ...conversation, messages: [] } });
    expect(state.messages).toBe(live.messages);
  });
});

describe('a question asked again', () => {
  const stored = (id: string, role: 'user' | 'assistant', text: string, more = {}) => ({
    id,
    role,
    content: [{ type: 'text' as const, text }],
    status: 'complete' as const,
    createdAt: '2026-11-01T10:00:00Z',
    ...more,
  });
  const conversation = {
    id: 'c',
    agent: 'discover',
    title: 'T',
    preview: '',
    createdAt: '',
    updatedAt: '',
    pinned: false,
    running: false,
    consents: [],
    messages: [
      stored('q1', 'user', 'one'),
      stored('a1', 'assistant', 'A one', { parentId: 'q1' }),
      stored('q2', 'user', 'two', { parentId: 'a1' }),
      stored('a2', 'assistant', 'A two', { parentId: 'q2' }),
    ],
  };
  const opened = reduce(emptyChat('discover'), { type: 'loaded', conversation });
  const words = (state: ChatState) => state.messages.map(textOf);
  const send = (text: string, editOf: string) =>
    reduce(opened, { type: 'sent', message: { clientMessageId: 'new', text, editOf }, at: '2026-11-01T11:00:00Z' });

  it('takes the place of what came from it on', () => {
    expect(words(send('other', 'q2'))).toEqual(['one', 'A one', 'other']);
    expect(words(send('other', 'q1'))).toEqual(['other']);
  });

  it('stays where it is when only another answer is wanted', () => {
    expect(words(send('two', 'q2'))).toEqual(['one', 'A one', 'two']);
    expect(send('two', 'q2').messages.at(-1)?.id).toBe('q2');
  });

  it('gets its id and its versions from the server, and keeps its place on the page', () => {
    const siblings = { index: 1, count: 2, ids: ['q2', 'q3'] };
    const answer: Frame = { seq: 1, type: 'message_start', messageId: 'a3', conversationId: 'c', turnId: 't' };
    const end: Frame = { seq: 2, type: 'message_end', usage: { inputTokens: 1, outputTokens: 1 }, stopReason: 'complete', notices: [] };
    const ended = play([answer, end], send('other', 'q2'));
    const messages = [stored('q3', 'user', 'other', { parentId: 'a1', siblings }), stored('a3', 'assistant', '', { parentId: 'q3' })];
    const settled = reduce(ended, { type: 'settled', conversation: { ...conversation, messages } });
    expect(settled.messages.at(-2)).toMatchObject({ id: 'q3', key: 'new', stored: true, siblings });
    expect(settled.messages[0]).toBe(ended.messages[0]);
  });

  it('knows which calls wait for a decision', () => {
    const consents = [
      { id: 'x', toolCallId: 't', toolName: 'n', decided: true },
      { id: 'y', toolCallId: 't', toolName: 'n', decided: true, scope: 'once' as const },
      { id: 'z', toolCallId: 't', toolName: 'n', decided: false },
    ];
    const state = reduce(opened, { type: 'loaded', conversation: { ...conversation, consents } });
    expect(state.consents).toEqual({ x: 'refuse', y: 'once', z: 'waiting' });
  });
});
