'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const NS = 'http://www.w3.org/2000/svg', W = 168, H = 34;
const $ = id => document.getElementById(id);
const svg = (tag, attrs, ...kids) => { const e = document.createElementNS(NS, tag); for (const k in attrs) e.setAttribute(k, attrs[k]); e.append(...kids); return e; };
const el = (tag, attrs, ...kids) => { const e = document.createElement(tag); for (const k in attrs || {}) e[k] = attrs[k]; e.append(...kids); return e; };
const byName = new Map(data.dishes.map(d => [d.name, d]));
const short = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s;
const kind = { cache_hit: 'hit', cache_miss: 'run', built: 'ok', installed: 'ok', failed: 'bad', skipped: 'hit' };
const count = (n, one, more) => n + ' ' + (n === 1 ? one : more || one + 's');
const seconds = ms => ms < 1000 ? ms + ' ms' : (ms / 1000).toFixed(1) + ' s';

// The panels of extensions: bento x ID sends their action.
if (data.panels) $('panels').append(...data.panels.map(p => el('span', { title: 'bento x ' + p.id }, '▸ ' + short(p.title, 40) + ' ')));

// The graph.
const graph = $('graph'), scene = svg('g', {}), edges = [], nodes = new Map();
// A path starts at the dependency, so that its arrowhead, which points there, is at the start.
graph.append(svg('defs', {}, svg('marker', { id: 'head', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse' }, svg('path', { class: 'head', d: 'M0 0L8 4L0 8z' }))), scene);
for (const d of data.dishes) for (const l of d.links) {
  const to = byName.get(l.dish); if (!to) continue;
  const x1 = to.x + W, y1 = to.y + H / 2, x2 = d.x, y2 = d.y + H / 2, c = Math.max(40, Math.abs(x2 - x1) / 2);
  const path = svg('path', { class: 'edge' + (l.dev ? ' dev' : ''), 'marker-start': 'url(#head)', d: `M${x1} ${y1}C${x1 + c} ${y1} ${x2 - c} ${y2} ${x2} ${y2}` });
  path.append(svg('title', {}, `${d.name} → ${l.dish}: ${l.kind}${l.where ? ', ' + l.where : ''}`));
  edges.push({ path, from: d.name, to: l.dish }); scene.append(path);
}
for (const d of data.dishes) {
  const g = svg('g', { class: 'node', tabindex: 0, role: 'button', transform: `translate(${d.x} ${d.y})` },
    svg('rect', { width: W, height: H }), svg('text', { x: 8, y: 15 }, short(d.name, 24)), svg('text', { class: 'sub', x: 8, y: 27 }, short([d.language, d.path].filter(Boolean).join(' · '), 32)));
  d.tasks.forEach((t, i) => g.append(svg('rect', { class: 'bar ' + (kind[t.status] || 'hit'), x: W - 10 - 7 * i, y: 5, width: 5, height: 9 })));
  g.append(svg('title', {}, d.name + (d.path !== d.name ? '\n' + d.path : '')));
  g.addEventListener('click', () => { if (!moved) select(d.name); });
  g.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); select(d.name); } });
  nodes.set(d.name, g); scene.append(g);
}

// Pan and zoom.
let view = { x: 0, y: 0, k: 1 }, moved = false, drag = null;
const apply = () => scene.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
const zoom = (f, cx, cy) => { const k = Math.min(3, Math.max(.03, view.k * f)); f = k / view.k; view = { x: cx - (cx - view.x) * f, y: cy - (cy - view.y) * f, k }; apply(); };
function fit() {
  const box = graph.getBoundingClientRect(); let w = 1, h = 1;
  for (const d of data.dishes) { w = Math.max(w, d.x + W); h = Math.max(h, d.y + H); }
  const k = Math.min(1.2, (box.width - 40) / w, (box.height - 40) / h);
  view = { k, x: Math.max(20, (box.width - w * k) / 2), y: Math.max(20, (box.height - h * k) / 2) }; apply();
}
graph.addEventListener('wheel', e => { e.preventDefault(); const b = graph.getBoundingClientRect(); zoom(Math.exp(-e.deltaY / 400), e.clientX - b.left, e.clientY - b.top); }, { passive: false });
graph.addEventListener('pointerdown', e => { drag = { x: e.clientX - view.x, y: e.clientY - view.y, sx: e.clientX, sy: e.clientY }; moved = false; });
addEventListener('pointermove', e => { if (!drag) return; if (Math.hypot(e.clientX - drag.sx, e.clientY - drag.sy) > 4) { moved = true; graph.classList.add('drag'); } if (moved) { view.x = e.clientX - drag.x; view.y = e.clientY - drag.y; apply(); } });
addEventListener('pointerup', () => { drag = null; graph.classList.remove('drag'); });
$('fit').addEventListener('click', fit);
$('in').addEventListener('click', () => { const b = graph.getBoundingClientRect(); zoom(1.3, b.width / 2, b.height / 2); });
$('out').addEventListener('click', () => { const b = graph.getBoundingClientRect(); zoom(1 / 1.3, b.width / 2, b.height / 2); });

// Search and selection.
let chosen = null;
function mark() {
  const q = $('search').value.trim().toLowerCase(); let n = 0, last = null;
  for (const d of data.dishes) {
    const hit = !q || d.name.toLowerCase().includes(q) || d.path.toLowerCase().includes(q) || d.tasks.some(t => (d.name + ':' + t.name).toLowerCase().includes(q));
    if (hit) { n++; last = d.name; }
    const near = !chosen || d.name === chosen || edges.some(e => (e.from === chosen && e.to === d.name) || (e.to === chosen && e.from === d.name));
    nodes.get(d.name).setAttribute('class', 'node' + (d.name === chosen ? ' sel' : '') + (hit && (near || q) ? '' : ' faded'));
  }
  for (const e of edges) e.path.setAttribute('class', e.path.getAttribute('class').replace(/ (sel|faded)/g, '') + (chosen ? (e.from === chosen || e.to === chosen ? ' sel' : ' faded') : ''));
  $('count').textContent = q ? n + ' of ' + data.dishes.length : count(data.dishes.length, 'dish', 'dishes');
  return n === 1 ? last : null;
}
$('search').addEventListener('input', mark);
$('search').addEventListener('keydown', e => { if (e.key === 'Enter') { const one = mark(); if (one) { select(one); show(one); } } });
addEventListener('keydown', e => { if (e.key === '/' && document.activeElement !== $('search')) { e.preventDefault(); $('search').focus(); } if (e.key === 'Escape') { $('search').value = ''; select(null); } });
function show(name) { const d = byName.get(name), b = graph.getBoundingClientRect(); view.k = Math.max(view.k, .8); view.x = b.width / 2 - (d.x + W / 2) * view.k; view.y = b.height / 2 - (d.y + H / 2) * view.k; apply(); }
function select(name) { chosen = name; const d = name && byName.get(name); $('panel').hidden = !d; if (d) $('panel').replaceChildren(...details(d)); mark(); }
const go = name => el('a', { href: '#', textContent: name, onclick: e => { e.preventDefault(); select(name); show(name); } });
function details(d) {
  const out = [el('h2', { textContent: d.name }), el('div', { className: 'dim', textContent: [d.path, d.language].filter(Boolean).join(' · ') })];
  const list = (title, items) => { if (items.length) out.push(el('h3', { textContent: title }), el('ul', {}, ...items)); };
  list('depends on', d.links.map(l => el('li', {}, go(l.dish), el('span', { className: 'dim', textContent: ' ' + [l.kind, l.where, l.via && 'via ' + l.via, l.dev && 'development only', l.cyclic && 'closes a cycle'].filter(Boolean).join(', ') }))));
  list('needed by', edges.filter(e => e.to === d.name).map(e => el('li', {}, go(e.from))));
  if (d.tasks.length) out.push(el('h3', { textContent: 'tasks' }));
  for (const t of d.tasks) {
    const body = [el('pre', { textContent: t.run })];
    const row = (k, v) => { if (v) body.push(el('div', {}, el('span', { className: 'dim', textContent: k + ' ' }), el('code', { textContent: v }))); };
    row('why', t.why); row('key', t.key); row('log', t.log); row('waits for', (t.depends_on || []).join(', '));
    if (t.inputs && t.inputs.length) body.push(el('details', {}, el('summary', { textContent: count(t.input_count, 'input') }), el('pre', { textContent: t.inputs.join('\n') + (t.input_count > t.inputs.length ? '\n…' : '') })));
    const run = data.run && data.run.tasks.find(r => r.id === d.name + ':' + t.name);
    if (run) row('last run', run.outcome + ' in ' + seconds(run.duration_ms));
    out.push(el('details', { className: 'task', open: d.tasks.length < 4 }, el('summary', {}, el('b', { textContent: t.name + ' ' }), el('span', { className: kind[t.status] || '', textContent: t.status.replaceAll('_', ' ') })), ...body));
  }
  return out;
}

// The timeline of the last run.
function timeline() {
  const r = data.run; if (!r || !r.tasks.length) return;
  $('last').hidden = false; $('runtitle').textContent = `${r.command} — ${seconds(r.duration_ms)}, ${new Date(r.started_at).toLocaleString()}`;
  const width = $('last').clientWidth - 26, rows = Math.max(...r.tasks.map(t => t.row)) + 1, total = Math.max(1, r.duration_ms), t = $('time'), sx = width / total;
  t.replaceChildren(); t.setAttribute('height', rows * 20 + 18); t.setAttribute('viewBox', `0 0 ${width} ${rows * 20 + 18}`);
  for (let i = 0; i <= 4; i++) t.append(svg('text', { class: 'axis', x: Math.min(i * width / 4, width - 40), y: rows * 20 + 14 }, seconds(Math.round(i * total / 4))));
  for (const x of r.tasks) {
    const bar = svg('rect', { class: (kind[x.outcome] || 'hit') + (x.critical ? ' critical' : ''), x: x.start_ms * sx, y: x.row * 20, width: Math.max(2, x.duration_ms * sx), height: 16, rx: 2, opacity: .75 });
    bar.append(svg('title', {}, `${x.id}: ${x.outcome}, ${seconds(x.duration_ms)}${x.critical ? ', critical path' : ''}`));
    bar.addEventListener('click', () => { const n = x.id.slice(0, x.id.lastIndexOf(':')); for (const d of data.dishes) if (x.id.startsWith(d.name + ':')) { select(d.name); show(d.name); return; } });
    t.append(bar);
    if (x.duration_ms * sx > 60) t.append(svg('text', { x: x.start_ms * sx + 4, y: x.row * 20 + 12 }, short(x.id, Math.floor(x.duration_ms * sx / 7))));
  }
}
addEventListener('resize', timeline);
mark(); timeline(); fit();
