// Writes src/api/schema.ts from the server's own OpenAPI document; with --check, only says whether it is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const DOCUMENT = new URL('../../crates/segue/tests/it/openapi.json', import.meta.url);
const OUT = new URL('../src/api/schema.ts', import.meta.url);
const REF = '#/components/schemas/';
/** Other protocols; the page does not use them. */
const NOT_OURS = /^\/api\/(ai\/|\{)/;

const { paths, components } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const known = components.schemas;

/** The named types that the page's paths refer to, directly and through each other. */
function collect() {
  const found = {};
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return;
    const name = typeof value.$ref === 'string' && value.$ref.slice(REF.length);
    if (name && !(name in found)) {
      found[name] = known[name];
      visit(known[name]);
    }
    Object.values(value).forEach(visit);
  };
  for (const [path, methods] of Object.entries(paths)) {
    if (path.startsWith('/api/') && !NOT_OURS.test(path)) visit(methods);
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => a.localeCompare(b)));
}

const root = JSON.parse(JSON.stringify({ definitions: collect() }).replaceAll(REF, '#/definitions/'));
const text = await compile(root, 'Unused', {
  additionalProperties: false,
  unreachableDefinitions: true,
  bannerComment: '// Made from the OpenAPI document by `npm run types`. Change the Rust types, not this file.',
  style: { singleQuote: true, printWidth: 140 },
});
// The generator wants a root type, which the document does not have, and mentions it everywhere.
const made = text
  .replace(/export interface Unused \{[^}]*\}\n/, '')
  .replace(/\n \*\n \* This interface was referenced by[^/]*\*\//g, '\n */')
  .replace(/\/\*\*\n \* This interface was referenced by[^/]*\*\/\n/g, '');

if (!process.argv.includes('--check')) writeFileSync(OUT, made);
else if (readFileSync(OUT, 'utf8') !== made) {
  console.error('src/api/schema.ts is not what the OpenAPI document says: run `npm run types` and commit the result');
  process.exit(1);
}
