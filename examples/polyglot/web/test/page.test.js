import assert from 'node:assert/strict';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';

import { euros, page } from '../src/page.js';

const dist = (name) => new URL(`../dist/${name}`, import.meta.url);

test('euros have two digits behind the point', () => {
  assert.equal(euros(160), '1.60 €');
  assert.equal(euros(5), '0.05 €');
});

test('the cheapest dish is first, and names are escaped', () => {
  const dishes = [
    { name: 'rice & peas', grams: 200, price_cents: 300 },
    { name: 'tea', grams: 20, price_cents: 100 },
  ];
  assert.equal(page('{{#dishes}}{{name}}={{price}};{{/dishes}}', { dishes }), 'tea=1.00 €;rice &amp; peas=3.00 €;');
});

test('the build shows every dish of the price table', () => {
  const html = readFileSync(dist('index.html'), 'utf8');
  for (const { name } of JSON.parse(readFileSync(dist('prices.json'), 'utf8')).dishes) {
    assert.ok(html.includes(`<td>${name}<td>`), name);
  }
  assert.ok(lstatSync(dist('prices.json')).isSymbolicLink());
  assert.equal(statSync(dist('preview.js')).mode & 0o111, 0o111);
});
