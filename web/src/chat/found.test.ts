import { describe, expect, it } from 'vitest';
import { followUps, shownCall } from './found';
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

  it('asks about no artist where a track has none', () => {
    const tracks = [
      { title: 'Night Ferry', artist: 'Ivy Marlow' },
      { title: 'A Lamp Left On', artist: '' },
    ];
    const call = { id: '1', name: 'semanticSearch', input: {}, status: 'done' as const, output: { tracks } };
    const found: ChatMessage = { id: 'm', role: 'assistant', status: 'complete', parts: [{ kind: 'tool', call }] };
    expect(followUps(found)).toEqual(['More like “Night Ferry”', 'Tell me about “Night Ferry”']);
  });

  it('suggests what to ask next from the names it has', () => {
    expect(followUps(live('discover'))).toContain('More like “Harbour Lights”');
    expect(followUps(live('discover'))).toContain('Make a playlist of these');
    expect(followUps(live('playlist'))).not.toContain('Make a playlist of these');
    expect(followUps(live('tasks')).join()).toContain('I have finished “');
    const albums = {
      id: '1',
      name: 'tidalSearch',
      input: {},
      status: 'done' as const,
      output: { albums: [{ id: '1', title: 'Low Tide' }] },
    };
    const found: ChatMessage = { id: 'm', role: 'assistant', status: 'complete', parts: [{ kind: 'tool', call: albums }] };
    expect(followUps(found), 'albums are no tasks').toEqual([]);
    expect(followUps({ id: 'm', role: 'assistant', status: 'complete', parts: [] })).toEqual([]);
  });
});
