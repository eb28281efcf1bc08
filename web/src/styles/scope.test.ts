// @vitest-environment node
// Each class belongs to one style sheet. Another sheet may name it only below a class of its own, as in `.dialog .button`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = 'src';
/** The last rules of base.css make targets of all components larger for fingers. */
const FOR_FINGERS = '@media (pointer: coarse)';

/** The first class of each selector: `textarea.field` and `.field:focus` belong to `field`. */
export function owned(css: string): Set<string> {
  const plain = css.replace(/\/\*[^]*?\*\//g, '');
  const selectors = [...plain.matchAll(/([^{};]+)\{/g)].map((match) => match[1]!.trim()).filter((text) => !text.startsWith('@'));
  const parts = selectors.flatMap((text) => text.replace(/:(is|not|where|has)\([^)]*\)/g, '').split(','));
  const first = parts.map((part) => /\.([a-z][\w-]*)/i.exec(part)?.[1]);
  return new Set(first.filter((name) => name !== undefined));
}

describe('the scope of styles', () => {
  it('reads the class that a selector begins with', () => {
    const css = '/* .no { */ @media (x) { .a > .b, p.c:is(.d, .e) { color: red } } li + .f:hover { top: 0.5px }';
    expect([...owned(css)]).toEqual(['a', 'c', 'f']);
  });

  it('gives each class to one style sheet', () => {
    const sheets = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.css'));
    expect(sheets.length).toBeGreaterThan(30);
    const owners = new Map<string, string[]>();
    for (const sheet of sheets) {
      const css = readFileSync(join(SRC, sheet), 'utf8');
      const own = sheet.endsWith('base.css') ? css.split(FOR_FINGERS)[0]! : css;
      for (const name of owned(own)) owners.set(name, [...(owners.get(name) ?? []), sheet]);
    }
    expect([...owners].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});
