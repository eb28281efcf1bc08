// Writes dist/sw.js: the template with the files of this build and a version made from their names.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const assets = readdirSync(new URL('assets/', dist))
  .toSorted()
  .map((name) => `/assets/${name}`);
const files = ['/index.html', '/theme.js', '/favicon.svg', '/manifest.webmanifest', ...assets];
const version = createHash('sha256')
  .update(readFileSync(new URL('index.html', dist)))
  .update(files.join('\n'))
  .digest('hex')
  .slice(0, 12);
const template = readFileSync(new URL('sw.template.js', import.meta.url), 'utf8');
writeFileSync(new URL('sw.js', dist), template.replace('__VERSION__', version).replace('__FILES__', JSON.stringify(files)));
console.log(`service worker ${version} for ${files.length} files`);
