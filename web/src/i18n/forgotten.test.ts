// No text of the page is shown as it is written in the source: each goes through `t` and its siblings, so that it can be translated.
// @vitest-environment node
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { forgottenIn, source, sources } from './texts-in';

/** Texts that are the same in every language, with the reason. */
const ALLOWED: Record<string, string> = {
  Segue: 'the name of the product',
  K: 'a key of the keyboard',
  'Allow once': 'chat/session.ts: the message that the server stores for the decision',
  'Allow in this conversation': 'chat/session.ts: the message that the server stores for the decision',
  'SessionsContext is missing above this component': 'for developers',
  'index.html has no #root': 'for developers',
  'the line went silent': 'never shown: the stream is opened again',
  'the issuer answered {}': 'never shown: the sign-in page says that the service cannot be reached',
};

it('every text of the page can be translated', () => {
  const forgotten = sources(fileURLToPath(new URL('..', import.meta.url)))
    .flatMap(forgottenIn)
    .filter(({ text }) => !Object.hasOwn(ALLOWED, text));
  expect(forgotten.map(({ file, line, text }) => `${file}:${line}: “${text}” needs t()`)).toEqual([]);
});

it('sees texts in elements, attributes, conditions, templates, fields, toasts and sentences', () => {
  const code = `const FIELD = { label: 'Field', value: 'not read' };
    const reason = () => 'There is no such thing.';
    const Part = ({ on, name }) => (
      <div className="quiet" aria-label="Attribute" title={on ? 'Condition' : name} data-kind="quiet">
        Element {on && 'Shown'} <b aria-label={\`Template \${name}\`}>{t('Translated')}</b>
        <button onClick={() => toast('Toast')} placeholder={t('Translated too')} />
      </div>
    );`;
  const texts = forgottenIn(source('a.tsx', code)).map(({ text }) => text);
  expect(texts).toEqual(['Field', 'There is no such thing.', 'Attribute', 'Condition', 'Element', 'Shown', 'Template {}', 'Toast']);
});
