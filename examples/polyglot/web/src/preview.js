#!/usr/bin/env node
// Shows the directory that this file is in: ./preview.js [PORT]
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const files = { '/': 'index.html', '/prices.json': 'prices.json' };

createServer(async (request, response) => {
  const file = files[request.url];
  response.statusCode = file ? 200 : 404;
  response.end(file ? await readFile(new URL(file, import.meta.url)) : 'not found\n');
}).listen(Number(process.argv[2] ?? 8081), '127.0.0.1');
