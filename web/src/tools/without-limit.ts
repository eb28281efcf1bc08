// A search without one of the limits that were understood, in words that can be asked.
import type { SemanticSearchOutput } from '../api/types';

export type AppliedLimit = SemanticSearchOutput['applied'][number];

/** Words that lead to what was taken out, and mean nothing at the edges. */
const LOOSE = /^(?:[\s,;·–-]|(?:and|but|or|with|from)\b)+|(?:[\s,;·–-]|\b(?:and|but|or|with|from))+$/gi;

/**
 * The question that keeps everything but `gone`; null when nothing is left to look for. `words` are the person's own;
 * where the limit is not in them, a model has put it into its query.
 */
export function withoutLimit(words: string, query: string, applied: AppliedLimit[], gone: AppliedLimit): string | null {
  const texts = applied.filter(({ label }) => label === gone.label).map(({ text }) => text);
  const own = cutAll(words, texts);
  if (own !== null) return own === '' ? null : own;
  const asked = cutAll(query, texts) ?? query;
  // A limit that the model gave as a field is not in its words: only its label can say it.
  const fields = applied.filter(({ label, text }) => label !== gone.label && text === '').map(({ label }) => label);
  return asked === '' ? null : [...new Set([asked, ...fields])].join(', ');
}

/** Null when none of the texts is there. The server reads emoji as words, so its words are not always those of a question. */
function cutAll(words: string, texts: string[]): string | null {
  let rest = words;
  for (const text of texts.filter((one) => one !== '')) {
    const at = rest.toLowerCase().indexOf(text.toLowerCase());
    if (at >= 0) rest = `${rest.slice(0, at)} ${rest.slice(at + text.length)}`;
  }
  if (rest === words) return null;
  const joined = rest.replace(/\s+([,;.?!])/g, '$1').replace(/([,;])\s*[,;]/g, '$1');
  return joined.replace(LOOSE, '').replace(/\s+/g, ' ').trim();
}

/** Each limit once: a model may say it in words and as a field. */
export function distinctLimits(applied: AppliedLimit[]): AppliedLimit[] {
  return applied.filter((limit, at) => applied.findIndex(({ label }) => label === limit.label) === at);
}
