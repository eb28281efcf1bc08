// What the page does to Markdown before it is drawn: HTML stays text, line breaks stay, known names become links.
import { meaningOf, type Names } from './names';

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** Blocks that hold text directly. HTML anywhere else needs a paragraph around it. */
const INLINE_PARENTS = new Set(['paragraph', 'heading', 'emphasis', 'strong', 'delete', 'link', 'linkReference', 'tableCell']);

/** A remark plugin. HTML becomes the characters it was written with, so `List<String>` stays readable and nothing is ever parsed. */
export function textOnly({ names }: { names: Names }) {
  const finder = finderOf(names);
  return (tree: Node): void => rewrite(tree, (text, parent, beside) => linked({ text, parent, beside }, names, finder));
}

/** The words before and after a piece of text, in the same line. */
interface Beside {
  before: string;
  after: string;
}
const ALONE: Beside = { before: '', after: '' };
type Rewrite = (text: string, parent: Node, beside: Beside) => Node[];

function rewrite(parent: Node, text: Rewrite, outside = ALONE): void {
  const nodes = parent.children;
  parent.children = nodes?.flatMap((node, at) => {
    if (node.type === 'html') return shown(node, parent);
    const beside = {
      before: at > 0 ? wordsOf(nodes[at - 1]) : outside.before,
      after: at < nodes.length - 1 ? wordsOf(nodes[at + 1]) : outside.after,
    };
    if (node.type === 'text') return text(node.value ?? '', parent, beside);
    rewrite(node, text, isSetApart(node) ? beside : ALONE);
    return [node];
  });
}

const wordsOf = (node: Node | undefined): string => node?.value ?? node?.children?.map(wordsOf).join('') ?? '';
const isSetApart = ({ type }: Node): boolean => type === 'strong' || type === 'emphasis';

function shown(html: Node, parent: Node): Node[] {
  const words = broken(html.value ?? '');
  return INLINE_PARENTS.has(parent.type) ? words : [{ type: 'paragraph', children: words }];
}

/** Models use single line breaks to mean line breaks. */
function broken(text: string): Node[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => [
    ...(index > 0 ? [{ type: 'break' }] : []),
    ...(line === '' ? [] : [{ type: 'text', value: line }]),
  ]);
}

/** Longest first, so that “Home Again” is not read as “Home”. */
function finderOf(names: Names): RegExp | null {
  const titles = [...names.keys()].filter((title) => title.length > 2).toSorted((a, b) => b.length - a.length);
  if (titles.length === 0) return null;
  const any = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, 'gu');
}

interface Piece {
  text: string;
  parent: Node;
  beside: Beside;
}

function linked({ text, parent, beside }: Piece, names: Names, finder: RegExp | null): Node[] {
  if (!finder || parent.type === 'link' || parent.type === 'linkReference') return broken(text);
  const nodes: Node[] = [];
  let from = 0;
  for (const { 0: title, index } of text.matchAll(finder)) {
    const [before, after] = [beside.before + text.slice(0, index), text.slice(index + title.length) + beside.after];
    const meaning = isMention(title, parent, before, after) ? meaningOf(names.get(title) ?? [], before, after) : null;
    if (!meaning) continue;
    nodes.push(...broken(text.slice(from, index)), { type: 'link', url: meaning.href, children: [{ type: 'text', value: title }] });
    from = index + title.length;
  }
  return [...nodes, ...broken(text.slice(from))];
}

/** A name of one word is often just a word: it counts where it is set apart, quoted, before “by” or after it. */
function isMention(title: string, parent: Node, before: string, after: string): boolean {
  if (/\s/.test(title) || isSetApart(parent)) return true;
  return /(?:[“"‘'„]|«\s?|\bby )$/.test(before) || /^\s*(?:by\b|[—–-]\s)/.test(after);
}
