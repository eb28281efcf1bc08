import { expect, it } from 'vitest';
import { inPortions } from './dropped';

const file = (name: string, bytes: number) => Object.defineProperty(new File([], name), 'size', { value: bytes });

it('sends files in portions that fit one request, in order, each once', () => {
  const files = Array.from({ length: 450 }, (_, n) => file(`${n}.mp3`, 1));
  const portions = inPortions(files);
  expect(portions.map((portion) => portion.length)).toEqual([200, 200, 50]);
  expect(portions.flat()).toEqual(files);
  const big = [file('a', 150 << 20), file('b', 100 << 20), file('c', 300 << 20), file('d', 1)];
  expect(inPortions(big).map((portion) => portion.map(({ name }) => name).join())).toEqual(['a', 'b', 'c', 'd']);
});
