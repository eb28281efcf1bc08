// Writes dist/licenses.txt: who made what is packed into the page, in their own words. Fonts included.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const parts = Object.entries(packages)
  .filter(([path, { dev, optional }]) => path.startsWith('node_modules/') && !dev && !optional && existsSync(join(root, path)))
  .map(([path, { version, license }]) => {
    const file = readdirSync(join(root, path)).find((name) => /^(licen[cs]e|copying)/i.test(name));
    const words = file ? readFileSync(join(root, path, file), 'utf8').trim() : '';
    return `${path.replace(/^.*node_modules\//, '')} ${version} (${license ?? 'see below'})\n\n${words}`;
  });
writeFileSync(join(root, 'dist', 'licenses.txt'), `${parts.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
console.log(`licences of ${parts.length} packages in dist/licenses.txt`);
