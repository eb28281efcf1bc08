// What the page does to Markdown before it is drawn: HTML stays text, line breaks stay, known names of tracks and artists become links.
import type { Names } from './mentions';

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
  return (tree: Node): void => rewrite(tree, (text, parent) => linked(text, parent, names, finder));
}

type Rewrite = (text: string, parent: Node) => Node[];

function rewrite(parent: Node, text: Rewrite): void {
  parent.children = parent.children?.flatMap((node) => {
    if (node.type === 'html') return shown(node, parent);
    if (node.type === 'text') return text(node.value ?? '', parent);
    rewrite(node, text);
    return [node];
  });
}

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

function linked(text: string, parent: Node, names: Names, finder: RegExp | null): Node[] {
  if (!finder || parent.type === 'link' || parent.type === 'linkReference') return broken(text);
  const nodes: Node[] = [];
  let from = 0;
  for (const { 0: title, index } of text.matchAll(finder)) {
    const url = names.get(title);
    if (!url || !isMention(text, title, index, parent)) continue;
    nodes.push(...broken(text.slice(from, index)), { type: 'link', url, children: [{ type: 'text', value: title }] });
    from = index + title.length;
  }
  return [...nodes, ...broken(text.slice(from))];
}

/** A name of one word is often just a word: it counts where it is set apart, quoted, before “by” or after it. */
function isMention(text: string, title: string, index: number, parent: Node): boolean {
  if (/\s/.test(title) || parent.type === 'strong' || parent.type === 'emphasis') return true;
  const [before, after] = [text.slice(0, index), text.slice(index + title.length)];
  return /(?:[“"‘'«]|\bby )$/.test(before) || /^\s*(?:by\b|[—–-]\s)/.test(after);
}
