// The page's texts in the user's language. The English text is the key, so English needs no file and no load.

/** A text, or one text for each plural form of the language. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;
export type Messages = Record<string, Message>;
type Values = Record<string, string | number>;

let messages: Messages = {};
let locale = 'en';
let numbers = new Intl.NumberFormat(locale);
let plurals = new Intl.PluralRules(locale);

/** `at`: the language, or a region of it (`de-AT`), for dates and numbers. */
export function speak(at: string, texts: Messages): void {
  messages = texts;
  locale = at;
  numbers = new Intl.NumberFormat(at);
  plurals = new Intl.PluralRules(at);
}

/** For `Intl` and `toLocale…String`. */
export const localeNow = (): string => locale;

export const number = (n: number): string => numbers.format(n);

/** `t('Search {name}', { name })`. A number is written as the language writes numbers. */
export function t(text: string, values?: Values): string {
  return fill(template(text), values);
}

/** The text with its placeholders. */
export function template(text: string): string {
  const found = messages[text];
  return typeof found === 'string' ? found : text;
}

/** `plural(n, '{n} track left', '{n} tracks left')`; the second text is the key. */
export function plural(n: number, one: string, other: string, values?: Values): string {
  const found = messages[other];
  const forms = typeof found === 'object' ? found : { one, other };
  return fill(forms[plurals.select(n)] ?? forms.other ?? other, { n, ...values });
}

/** Marks a text that `t` gets later: constants are made before the language is known. */
export const msg = (text: string): string => text;

function fill(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === 'number' ? number(value) : value;
  });
}
