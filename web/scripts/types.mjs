// Writes src/api/schema.ts from the server's own OpenAPI document; with --check, only says whether it is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const DOCUMENT = new URL('../../crates/segue/tests/it/openapi.json', import.meta.url);
const OUT = new URL('../src/api/schema.ts', import.meta.url);
const REF = '#/components/schemas/';
/** Doors that speak other people's protocols; the page does not use them. */
const NOT_OURS = /^\/api\/(ai\/|\{)/;

const { paths, components } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const known = components.schemas;

/** Tools describe themselves without references; what is plainly one of the named types gets its name back. */
const names = new Map(
  Object.entries(known)
    .filter(([, schema]) => schema.properties)
    .map(([name, schema]) => [fingerprint(schema), name]),
);

function fingerprint({ properties, required = [] }) {
  return JSON.stringify([Object.keys(properties).sort(), [...required].sort()]);
}

function named(schema) {
  if (Array.isArray(schema)) return schema.map(named);
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = schema.properties && names.get(fingerprint(schema));
  if (name) return schema.type === 'object' ? { $ref: REF + name } : { anyOf: [{ $ref: REF + name }, { type: 'null' }] };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, named(value)]));
}

/** `/api/tools/add_task` answers an `AddTaskOutput`. */
function outputName(path) {
  const words = path.split('/').at(-1).split('_');
  return `${words.map((word) => word[0].toUpperCase() + word.slice(1)).join('')}Output`;
}

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
    if (!path.startsWith('/api/') || NOT_OURS.test(path)) continue;
    const tool = path.startsWith('/api/tools/') && methods.post?.responses['200'].content['application/json'].schema;
    if (tool) found[outputName(path)] = { ...tool, title: undefined, properties: named(tool.properties) };
    visit(tool ? found[outputName(path)] : methods);
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
