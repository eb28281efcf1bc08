import { describe, expect, it } from 'vitest';
import { finishedBlocks } from './announcer';
import { RECORDINGS } from './recorded';
import { emptyChat, reduce } from './reduce';

describe('what a screen reader hears', () => {
  it('grows by whole blocks, never by letters, and never takes a word back', () => {
    let state = emptyChat('discover');
    let before: string[] = [];
    const announcements: string[][] = [];
    for (const frame of RECORDINGS['failing tool']!.frames) {
      state = reduce(state, { type: 'frame', frame });
      const message = state.messages.at(-1);
      const now = message ? finishedBlocks(message) : [];
      expect(now.slice(0, before.length)).toEqual(before);
      if (now.length > before.length) announcements.push(now.slice(before.length));
      before = now;
    }
    expect(announcements.flat()).toEqual([
      'Let me look in the catalogue first.',
      'Tidal service is temporarily unavailable. Try searching your indexed collection instead. Tried twice. The agent continues without it and may try again later.',
      'The catalogue is out of reach, so I searched your own collection instead.',
      "Searched your library for 'night trains' · 5 found",
      'Start with the first one: it moves like wheels over points.',
    ]);
  });

  it('hears words, not the marks around them nor the addresses behind them', () => {
    const text = '## For **you**\n> see [the list](https://example.org/a_b)';
    expect(finishedBlocks({ id: 'x', role: 'assistant', parts: [{ kind: 'text', text }], status: 'complete' })).toEqual([
      ' For you\n see the list',
    ]);
  });

  it('hears that an answer was stopped or broke', () => {
    const heard = (name: string) =>
      finishedBlocks(
        RECORDINGS[name]!.frames.reduce((s, frame) => reduce(s, { type: 'frame', frame }), emptyChat('discover')).messages[0]!,
      );
    expect(heard('stopped').at(-1)).toBe('Stopped.');
    expect(heard('broken').at(-1)).toBe('The model is unavailable right now. Please try again.');
  });
});
