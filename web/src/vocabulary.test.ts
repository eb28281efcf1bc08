// Words of the style section in CONTRIBUTING.md: the page uses the names that web developers know.
// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const FORMER_WORDS = ['door', 'doors', 'foreign', 'house', 'manners', 'patience', 'shelf'];
const HERE = 'src/vocabulary.test.ts';

/** The words of a text; `AccountDoor` and `account_door` have two each. */
const wordsOf = (text: string): Set<string> => new Set(text.match(/[A-Z]?[a-z]+/g)?.map((word) => word.toLowerCase()));

it('private words stay out of the page, its scripts and its tests', () => {
  const web = fileURLToPath(new URL('..', import.meta.url));
  const files = ['src', 'scripts', 'e2e'].flatMap((folder) =>
    readdirSync(`${web}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const sources = files.filter((file) => /\.(tsx?|mjs|css)$/.test(file) && file !== HERE);
  expect(sources.length).toBeGreaterThan(200);
  const found = sources.flatMap((file) => {
    const words = wordsOf(readFileSync(web + file, 'utf8'));
    return FORMER_WORDS.filter((word) => words.has(word)).map((word) => `${file}: ${word}`);
  });
  expect(found).toEqual([]);
});
