// Fails the build when the script a first visit downloads grows past its budget, or when a page refers to another host.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const BUDGET_KB = 200;
const dist = new URL('../dist/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist), 'utf8'));

const first = new Set();
const visit = (key) => {
  if (first.has(key)) return;
  first.add(key);
  for (const next of manifest[key].imports ?? []) visit(next);
};
visit('index.html');

let total = 0;
for (const key of first) {
  const { file } = manifest[key];
  if (!file.endsWith('.js')) continue;
  const bytes = gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
  total += bytes;
  console.log(`${(bytes / 1024).toFixed(1).padStart(7)} KB gzip  ${file}`);
}
console.log(`${(total / 1024).toFixed(1).padStart(7)} KB gzip  first load (budget ${BUDGET_KB} KB)`);

const html = readFileSync(new URL('index.html', dist), 'utf8');
const otherHost = html.match(/(?:src|href)="(?:https?:)?\/\//);
const inline = html.match(/<script(?![^>]*\bsrc=)/);
if (otherHost || inline) throw new Error(`index.html breaks the page's CSP: ${(otherHost ?? inline)[0]}`);
if (total > BUDGET_KB * 1024) throw new Error('the first load is over its budget: split something off');
