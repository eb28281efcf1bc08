// No text of the page is shown as it is written in the source: each goes through `t` and its siblings, so that it can be translated.
// @vitest-environment node
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { forgottenIn, source, sources, type Place } from './texts-in';

/** Texts that no one reads, or that are the same in every language. */
const ALLOWED: { file?: string; texts: string[]; why: string }[] = [
  { texts: ['Segue'], why: 'the name of the product' },
  { file: 'shell/sidebar.tsx', texts: ['K', 'Ctrl'], why: 'keys of the keyboard' },
  { file: 'shell/shortcuts.ts', texts: ['Ctrl', 'Shift', 'Alt', 'Enter', 'Esc', 'Delete'], why: 'keys; keyName() looks them up' },
  { file: 'chat/composer.tsx', texts: ['Enter', 'Shift', 'Esc'], why: 'keys; keyName() looks them up' },
  { file: 'chat/session.ts', texts: ['Allow once', 'Allow in this conversation'], why: 'the message that the server stores' },
  { file: 'chat/parts.ts', texts: ['Interrupted'], why: 'tools/words.ts translates it' },
  { file: 'i18n/language.ts', texts: ['English', 'Deutsch'], why: 'each language in its own words' },
  { file: 'library/import-zone.tsx', texts: ['Files'], why: 'a type of the DataTransfer API' },
  { file: 'shell/dropped-elsewhere.ts', texts: ['Files'], why: 'a type of the DataTransfer API' },
  { file: 'api/client.ts', texts: ['Unreachable'], why: 'the name of an error class' },
  { file: 'api/issuer.ts', texts: ['Bearer {}', 'the issuer answered {}'], why: 'a header, and an error that is never shown' },
  { file: 'chat/stream.ts', texts: ['the line went silent'], why: 'never shown: the stream is opened again' },
  { file: 'chat/sessions.ts', texts: ['SessionsContext is missing above this component'], why: 'for developers' },
  { file: 'settings/connections.tsx', texts: ['https://…'], why: 'the beginning of an address' },
  { file: 'main.tsx', texts: ['index.html has no #root'], why: 'for developers' },
];

const isAllowed = (place: Place) =>
  ALLOWED.some(({ file, texts }) => (file === undefined || file === place.file) && texts.includes(place.text));

it('every text of the page can be translated', () => {
  const forgotten = sources(fileURLToPath(new URL('..', import.meta.url)))
    .flatMap(forgottenIn)
    .filter((place) => !isAllowed(place));
  expect(forgotten.map(({ file, line, text }) => `${file}:${line}: “${text}” needs t()`)).toEqual([]);
});

it('sees texts in elements, attributes, conditions, templates, fields, toasts and sentences', () => {
  const code = `const FIELD = { label: 'Field', value: 'not read', other: 'Word', keys: ['a-z'] };
    const isEnter = (event) => event.key === 'Enter';
    const reason = () => 'There is no such thing.';
    const Part = ({ on, name }) => (
      <div className="quiet" aria-label="Attribute" title={on ? 'Condition' : name} data-kind="quiet">
        Element {on && 'Shown'} <b aria-label={\`Template \${name}\`}>{t('Translated')}</b>
        <button onClick={() => toast('Toast')} placeholder={t('Translated too')} />
      </div>
    );`;
  const texts = forgottenIn(source('a.tsx', code)).map(({ text }) => text);
  expect(texts).toEqual(['Field', 'Word', 'There is no such thing.', 'Attribute', 'Condition', 'Element', 'Shown', 'Template {}', 'Toast']);
});
