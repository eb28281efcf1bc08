import { expect, it } from 'vitest';
import { strengthOf, whyLine } from './match';

const track = {
  trackId: '58534755-4532-8363-8030-303031000000',
  isrc: 'X',
  title: 'T',
  artist: 'A',
  album: 'B',
  inLibrary: false,
  isIndexed: true,
};

it('says the strength of a match in words', () => {
  expect([0.98, 0.94, 0.6, 0.24].map(strengthOf)).toEqual(['strong', 'strong', 'good', 'weak']);
});

it('says why a track matched in one line, the best reason first', () => {
  const why = { lyric: 'rain on glass\nall night', words: ['rain'], features: ['low energy (0.12)'] };
  expect(whyLine({ ...track, why })).toBe('“rain on glass”');
  expect(whyLine({ ...track, why: { ...why, lyric: null } })).toBe('Has “rain”, low energy');
  expect(whyLine({ ...track, why: { words: ['rain'] }, shortDescription: 'A slow one.' })).toBe('A slow one.');
  expect(whyLine(track)).toBeNull();
});
