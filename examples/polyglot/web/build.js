// Makes dist/: the page, the price table under a name that changes with its
// content, a link to the newest one, and a script to look at it all.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { page } from './src/page.js';

const prices = readFileSync(new URL('../tools/pricing/prices.json', import.meta.url), 'utf8');
const template = readFileSync(new URL('src/page.mustache', import.meta.url), 'utf8');
const name = `prices-${createHash('sha256').update(prices).digest('hex').slice(0, 8)}.json`;

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
writeFileSync('dist/index.html', page(template, JSON.parse(prices)));
writeFileSync(`dist/${name}`, prices);
symlinkSync(name, 'dist/prices.json');
cpSync('src/preview.js', 'dist/preview.js');
chmodSync('dist/preview.js', 0o755);
console.log(`dist/index.html, dist/${name}`);
