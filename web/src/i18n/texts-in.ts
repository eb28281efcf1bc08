// Reads the source of the page for the tests: which texts it looks up, and which texts it forgot to look up.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';

export interface Place {
  file: string;
  line: number;
  text: string;
}

/** A text that is looked up. `one` belongs to a plural. */
export interface Text extends Place {
  one?: string;
}

interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}

export interface Source {
  file: string;
  code: string;
  program: Node;
}

export function sources(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^i18n\/texts-in\.ts$|^api\/schema\.ts$/.test(name))
    .toSorted()
    .map((name) => join(folder, name))
    .map((path) => source(relative(folder, path), readFileSync(path, 'utf8')));
}

export function source(file: string, code: string): Source {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  return { file, code, program: program as unknown as Node };
}

/** Which argument of a function is a text. A plural has two; `count` takes nouns. */
const LOOKUPS: Record<string, number[]> = { t: [0], msg: [0], rich: [0], plural: [1, 2], count: [1, 2] };

/** Every text that a source looks up. A text that is not written out where it is looked up cannot be found, so it is refused. */
export function textsIn({ file, code, program }: Source): { texts: Text[]; problems: Place[] } {
  const texts: Text[] = [];
  const problems: Place[] = [];
  walk(program, [], (node, parents) => {
    const name = calledName(node);
    if (!name || isDefinition(file)) return;
    const at = { file, line: lineOf(code, node) };
    const inFunction = parents.some(({ type }) => /Function/.test(type));
    if (name !== 'msg' && !inFunction) problems.push({ ...at, text: `${name}() runs before the language is known; use msg()` });
    const [first, second] = (LOOKUPS[name] ?? []).map((place) => literal((node.arguments as Node[])[place]));
    if (name === 'plural' && first != null && second != null) texts.push({ ...at, text: second, one: first });
    else if (name === 'count' && first != null) texts.push({ ...at, text: `{n} ${second ?? `${first}s`}`, one: `{n} ${first}` });
    else if (name !== 'plural' && name !== 'count' && first != null) texts.push({ ...at, text: first });
    // `t(label)` is fine: the label was marked with `msg`.
    else if (name !== 't') problems.push({ ...at, text: `${name}() needs its text as a literal` });
  });
  return { texts, problems };
}

/** Attributes and fields that are read or heard. */
const SHOWN = new Set([
  'aria-label',
  'title',
  'placeholder',
  'alt',
  'label',
  'note',
  'hint',
  'what',
  'aria-description',
  'aria-roledescription',
]);
/** Functions whose first argument is read or heard. */
const SAYING = new Set(['toast', 'say', 'usePageTitle', 'canUndo', 'Error']);
/** A capitalised word or a sentence, wherever it stands. */
const WORDS = /^[A-Z][a-z’']+(?:,? \S|…?$)|^[A-Z] [a-z]|[a-z] [a-z]+.*(?:\.|…)$|“/;

/** Texts that are shown as they are written, without `t`. */
export function forgottenIn({ file, code, program }: Source): Place[] {
  const found = new Map<number, Place>();
  const note = (node: Node, text: string) => found.set(node.start, { file, line: lineOf(code, node), text });
  const shown = (value: unknown) => {
    for (const node of partsOf(value as Node | null)) {
      const text = wordsOf(node);
      if (text !== null && /\p{L}/u.test(text.replace(/\{\}/g, ''))) note(node, text);
    }
  };
  walk(program, [], (node, parents) => {
    if (parents.some((parent) => calledName(parent) !== null || parent.type.startsWith('TS') || isQuiet(parent))) return;
    if (node.type === 'JSXText' && /\p{L}/u.test(String(node.value))) note(node, String(node.value).trim());
    if (node.type === 'JSXAttribute' && SHOWN.has(nameOf(node.name))) shown(node.value);
    if (node.type === 'JSXExpressionContainer' && parents.at(-1)?.type === 'JSXElement') shown(node.expression);
    if (node.type === 'Property' && SHOWN.has(nameOf(node.key))) shown(node.value);
    if ((node.type === 'CallExpression' || node.type === 'NewExpression') && SAYING.has(nameOf(node.callee)))
      shown((node.arguments as Node[])[0]);
    const text = wordsOf(node);
    if (text !== null && WORDS.test(text) && !isCompared(parents.at(-1))) note(node, text);
  });
  return [...found.values()];
}

/** `event.key === 'Enter'` shows nothing. */
const isCompared = (parent: Node | undefined) => parent?.type === 'BinaryExpression' && parent.operator !== '+';

/** What developers read: the console and imports. */
function isQuiet(node: Node): boolean {
  if (/^(Import|Export\w*From|ExportAll)/.test(node.type)) return true;
  return node.type === 'CallExpression' && nameOf((node.callee as Node).object) === 'console';
}

/** The branches of an expression that may be its value. */
function partsOf(node: Node | null): Node[] {
  if (!node) return [];
  switch (node.type) {
    case 'JSXExpressionContainer':
      return partsOf(node.expression as Node);
    case 'ConditionalExpression':
      return [...partsOf(node.consequent as Node), ...partsOf(node.alternate as Node)];
    case 'LogicalExpression':
    case 'BinaryExpression':
      return node.type === 'BinaryExpression' && node.operator !== '+'
        ? []
        : [...partsOf(node.left as Node), ...partsOf(node.right as Node)];
    case 'ArrowFunctionExpression':
      return partsOf(node.body as Node);
    default:
      return [node];
  }
}

/** The words of a string or a template; `{}` stands for a value. */
function wordsOf(node: Node): string | null {
  if (node.type === 'TemplateLiteral') {
    return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('{}');
  }
  return literal(node);
}

function literal(node: Node | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && (node.expressions as Node[]).length === 0) return wordsOf(node);
  return null;
}

function calledName(node: Node): string | null {
  if (node.type !== 'CallExpression') return null;
  const name = nameOf(node.callee);
  return Object.hasOwn(LOOKUPS, name) ? name : null;
}

/** There the functions are made of each other. */
const isDefinition = (file: string) => file.startsWith('i18n/') || file === 'ui/format.ts';

function nameOf(node: unknown): string {
  const { type, name, value } = (node ?? {}) as Node;
  return type === 'Identifier' || type === 'JSXIdentifier' ? String(name) : type === 'Literal' ? String(value) : '';
}

const lineOf = (code: string, { start }: Node): number => code.slice(0, start).split('\n').length;

function walk(node: Node, parents: Node[], visit: (node: Node, parents: Node[]) => void): void {
  visit(node, parents);
  const inside = [...parents, node];
  for (const child of Object.values(node).flat()) {
    if (child !== null && typeof child === 'object' && typeof (child as Node).type === 'string') walk(child as Node, inside, visit);
  }
}
