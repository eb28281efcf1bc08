// A limit of a search in the language of the page: the server says it in English.
import { localeNow, msg, t } from '../i18n';

const WHOLE = [
  msg('instrumental'),
  msg('with vocals'),
  msg('explicit'),
  msg('not explicit'),
  msg('in your library'),
  msg('not in your library'),
  msg('like what was shown'),
];

/** The first one that fits is taken. */
const PARTS: readonly (readonly [RegExp, (part: string) => string])[] = [
  [/^without (.+)$/, (what) => t('without {what}', { what })],
  [/^not too (.+)$/, (what) => t('not too {what}', { what })],
  [/^not in (.+)$/, (name) => t('not in {language}', { language: languageName(name) })],
  [/^in (.+)$/, (name) => t('in {language}', { language: languageName(name) })],
  [/^by (.+)$/, (artist) => t('by {artist}', { artist })],
  [/^at most (.+) per artist$/, (n) => t('at most {n} per artist', { n })],
  [/^at most (.+)$/, (n) => t('at most {n}', { n })],
  [/^at least (.+)$/, (n) => t('at least {n}', { n })],
  [/^over (.+)$/, (n) => t('over {n}', { n })],
  [/^under (.+)$/, (n) => t('under {n}', { n })],
  [/^from (.+)$/, (year) => t('from {year}', { year })],
  [/^until (.+)$/, (year) => t('until {year}', { year })],
  [/^like (.+)$/, (title) => t('like {title}', { title })],
];

/** What is not known here is shown as the server says it. */
export function limitLabel(label: string): string {
  if (WHOLE.includes(label)) return t(label);
  for (const [pattern, say] of PARTS) {
    const part = pattern.exec(label)?.[1];
    if (part !== undefined) return say(part);
  }
  return label;
}

const CODES = 'en de fr es it pt nl sv da fi pl cs ru uk el tr ar hi ja ko zh'.split(' ');

function languageName(english: string): string {
  const inEnglish = new Intl.DisplayNames('en', { type: 'language' });
  const code = CODES.find((known) => inEnglish.of(known) === english);
  return (code && new Intl.DisplayNames(localeNow(), { type: 'language' }).of(code)) ?? english;
}
