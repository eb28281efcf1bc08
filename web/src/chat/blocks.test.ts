import { describe, expect, it } from 'vitest';
import { splitBlocks } from './blocks';

const CASES: [behaviour: string, text: string, blocks: string[]][] = [
  ['paragraphs are blocks', 'one\n\ntwo', ['one\n', 'two']],
  ['a fence keeps its empty lines', '```\na\n\nb\n```\n\nafter', ['```\na\n\nb\n```\n', 'after']],
  ['an unfinished fence stays one block', '```js\na\n\nb', ['```js\na\n\nb']],
  ['a shorter fence inside a longer one does not close it', '````\n```\n\nx\n````', ['````\n```\n\nx\n````']],
  ['a loose list stays one list', '1. a\n\n2. b\n\nafter', ['1. a\n\n2. b\n', 'after']],
  ['indented text belongs to its list item', '- a\n\n  more\n\nafter', ['- a\n\n  more\n', 'after']],
  ['text with link definitions stays whole', 'see [x]\n\n[x]: https://example.org', ['see [x]\n\n[x]: https://example.org']],
  ['nothing is no block', '\n\n', []],
];

describe('splitting markdown', () => {
  it.each(CASES)('%s', (_behaviour, text, blocks) => {
    expect(splitBlocks(text)).toEqual(blocks);
  });

  it('changes only the last block while text grows', () => {
    const whole = 'one\n\n- a\n- b\n\n```\ncode\n\nmore\n```\n\nlast words';
    let before: string[] = [];
    for (let end = 1; end <= whole.length; end++) {
      const now = splitBlocks(whole.slice(0, end));
      expect(now.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
      before = now;
    }
  });
});
