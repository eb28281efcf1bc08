import { expect, it } from 'vitest';
import { featureWords } from './features';

it('names a sound that matched as its bar does', () => {
  expect(featureWords('high valence (0.69)')).toBe('Brightness 69%');
  expect(featureWords('low tempo (70 BPM)'), 'no bar').toBe('low tempo (70 BPM)');
});
