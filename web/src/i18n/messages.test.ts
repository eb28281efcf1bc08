// Every text of the page exists in every language, with its placeholders and plural forms; no file holds a text that is not used.
// @vitest-environment node
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Message, Messages } from './index';
import { LANGUAGES } from './language';
import { source, sources, textsIn, type Text } from './texts-in';

const found = sources(fileURLToPath(new URL('..', import.meta.url))).map(textsIn);
const texts = new Map(found.flatMap(({ texts }) => texts).map((text) => [text.text, text]));
const translated = Object.keys(LANGUAGES).filter((language) => language !== 'en');

it('reads every text where it is looked up, and none before the language is known', () => {
  expect(found.flatMap(({ problems }) => problems)).toEqual([]);
  expect(texts.size).toBeGreaterThan(400);
});

describe.each(translated)('%s', (language) => {
  it('has every text, and no other', async () => {
    const messages = await messagesOf(language);
    expect([...texts.keys()].filter((text) => !(text in messages)).toSorted(), 'missing').toEqual([]);
    expect(
      Object.keys(messages).filter((text) => !texts.has(text)),
      'unknown',
    ).toEqual([]);
  });

  it('keeps the placeholders and has every plural form', async () => {
    const messages = await messagesOf(language);
    expect([...texts.values()].flatMap((text) => problemsOf(text, messages[text.text], language))).toEqual([]);
  });
});

describe('the check itself', () => {
  const code = `const LABEL = msg('Tasks');
    const draw = (n) => [t(LABEL), t('Hello {name}', { name }), count(n, 'entry', 'entries'), plural(n, 'one left', '{n} left')];
    const early = t('Too early');
    const dark = () => [count(n, what), rich(words, {})];`;
  const { texts, problems } = textsIn(source('a.tsx', code));

  it('finds texts of each kind', () => {
    expect(texts.map(({ text }) => text)).toEqual(['Tasks', 'Hello {name}', '{n} entries', '{n} left', 'Too early']);
  });
  it('refuses what it cannot read, and what is looked up too early', () => {
    expect(problems.map(({ line, text }) => `${line}: ${text}`)).toEqual([
      '3: t() runs before the language is known; use msg()',
      '4: count() needs its text as a literal',
      '4: rich() needs its text as a literal',
    ]);
  });
  it('sees a lost placeholder, an unknown one, a missing form and an empty text', () => {
    const plain = { file: '', line: 1, text: 'Hello {name}' };
    expect(problemsOf(plain, 'Hallo {name}', 'de')).toEqual([]);
    expect(problemsOf(plain, 'Hallo', 'de')).toHaveLength(1);
    expect(problemsOf(plain, 'Hallo {nome}', 'de')).toHaveLength(1);
    expect(problemsOf({ ...plain, text: 'Hello' }, ' ', 'de')).toHaveLength(1);
    const many = { file: '', line: 1, text: '{n} left', one: 'one left' };
    expect(problemsOf(many, { one: 'noch einer', other: 'noch {n}' }, 'de')).toEqual([]);
    expect(problemsOf(many, { one: 'jeden', other: '{n}' }, 'pl')).toHaveLength(2);
    expect(problemsOf(many, 'noch {n}', 'de')).toHaveLength(1);
  });
});

async function messagesOf(language: string): Promise<Messages> {
  return (await LANGUAGES[language]!.load()).default;
}

function problemsOf({ text, one }: Text, message: Message | undefined, language: string): string[] {
  if (message === undefined) return [];
  if (one === undefined) {
    return typeof message === 'string' ? differences(text, [text], message) : [`“${text}” is no plural`];
  }
  if (typeof message === 'string') return [`“${text}” needs plural forms`];
  const missing = formsOf(language).filter((form) => !message[form]);
  return [
    ...missing.map((form) => `“${text}” lacks the form “${form}”`),
    // “One track” need not name the number.
    ...Object.entries(message).flatMap(([form, words]) => differences(text, form === 'one' ? [one, text] : [text], words ?? '')),
  ];
}

/** The forms that a language uses for numbers of this size. */
function formsOf(language: string): Intl.LDMLPluralRule[] {
  const rules = new Intl.PluralRules(language);
  return [...new Set(Array.from({ length: 1_000 }, (_, n) => rules.select(n)))];
}

function differences(text: string, originals: string[], words: string): string[] {
  if (words.trim() === '') return [`“${text}” is empty`];
  if (originals.some((original) => placeholders(original) === placeholders(words))) return [];
  return [`“${text}” has ${placeholders(text)}, “${words}” has ${placeholders(words)}`];
}

const placeholders = (text: string): string => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted().join(' ') || 'no placeholder';
