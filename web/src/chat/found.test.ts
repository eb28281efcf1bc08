import { describe, expect, it } from 'vitest';
import { followUps, namesIn, shownCall } from './found';
import { isNameHref } from './mentions';
import { RECORDINGS } from './recorded';
import { emptyChat, reduce, type ChatMessage } from './reduce';

const live = (name: string): ChatMessage =>
  RECORDINGS[name]!.frames.reduce((state, frame) => reduce(state, { type: 'frame', frame }), emptyChat('discover')).messages[0]!;

describe('what an answer found', () => {
  it('is shown by the last call that found something', () => {
    const message = live('playlist');
    const last = message.parts.findLast((part) => part.kind === 'tool');
    expect(last?.kind === 'tool' && last.call.name).toBe('suggestPlaylist');
    expect(shownCall(message)).toBe(last?.kind === 'tool' ? last.call.id : 'none');
    expect(shownCall({ id: 'm', role: 'assistant', status: 'complete', parts: [] })).toBeNull();
  });

  it('suggests what to ask next from the names it has', () => {
    expect(followUps(live('discover'))).toContain('More like “Harbour Lights”');
    expect(followUps(live('discover'))).toContain('Make a playlist of these');
    expect(followUps(live('playlist'))).not.toContain('Make a playlist of these');
    expect(followUps(live('tasks')).join()).toContain('I have finished “');
    expect(followUps({ id: 'm', role: 'assistant', status: 'complete', parts: [] })).toEqual([]);
  });

  it('knows the tracks a text may mention', () => {
    expect(namesIn([live('discover')]).get('Harbour Lights')).toMatch(/^#track-[A-Z0-9]{12}$/);
  });

  it('knows tracks without a code by their own id', () => {
    const trackId = '01a1e2b6-c3a5-7468-82d8-346b854bcd89';
    const output = { tracks: [{ title: 'Low Tide', artist: 'Ivy Marlow', isrc: '', trackId, inLibrary: true }] };
    const call = { id: '1', name: 'semanticSearch', input: {}, status: 'done' as const, output };
    const message: ChatMessage = { id: 'm', role: 'assistant', status: 'complete', parts: [{ kind: 'tool', call }] };
    const names = namesIn([message]);
    expect(names.get('Low Tide')).toBe(`#track-${trackId}`);
    expect(names.get('Ivy Marlow'), 'an artist of the library').toBe('#artist-Ivy%20Marlow');
    expect([...names.values()].every(isNameHref)).toBe(true);
    const foreign = { ...output.tracks[0], inLibrary: false };
    const other: ChatMessage = { ...message, parts: [{ kind: 'tool', call: { ...call, output: { tracks: [foreign] } } }] };
    expect(namesIn([other]).has('Ivy Marlow'), 'there would be nothing to see').toBe(false);
  });
});
