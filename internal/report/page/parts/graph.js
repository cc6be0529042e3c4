// The graph. Dishes are one node a directory if they are many; a click unfolds it.

const nodeWidth = 168, nodeHeight = 34, columnWidth = 240, rowDistance = 46;
const mostUnfolded = 60; // dishes that are shown without groups at first
const svg = (tag, attrs, ...kids) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  e.append(...kids);
  return e;
};
const graph = $('graph'), scene = svg('g', {});
// A path starts at the dependency, so that its arrowhead, which points there, is at the start.
graph.append(svg('defs', {}, svg('marker', { id: 'head', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse' }, svg('path', { class: 'head', d: 'M0 0L8 4L0 8z' }))), scene);
let points = new Map(); // by name: {name, dish or group, on, x, y}; "/" ends the name of a group
let nodes = new Map(), edges = [];
const unfolded = new Set(); // names of groups
let allUnfolded = false, drawnGraph = false;

const pointOf = name => {
  const g = groupOf.get(name);
  return g && points.get(points.has(name) ? name : g.name + '/');
};

// layOut makes the points, and places each to the right of those that it depends on, and near to them.
function layOut() {
  points = new Map();
  const plain = allUnfolded || data.dishes.length <= mostUnfolded || groups.length < 2 && data.dishes.length <= 1000;
  for (const group of groups) {
    if (!plain && !unfolded.has(group.name)) points.set(group.name + '/', { name: group.name + '/', group, on: new Map() });
    else for (const dish of group.dishes) points.set(dish.name, { name: dish.name, dish, on: new Map() });
  }
  for (const d of data.dishes) for (const l of d.links) {
    const from = pointOf(d.name), to = pointOf(l.dish);
    if (from && to && from !== to) from.on.set(to, [...from.on.get(to) || [], { from: d.name, ...l }]);
  }
  place([...points.values()]);
}

function place(list) {
  const layers = layersOf(list), rank = new Map();
  for (const layer of layers) layer.forEach((p, i) => rank.set(p, i));
  for (let round = 0; round < 4; round++) for (const layer of layers.slice(1)) settle(layer, rank);
  const most = Math.max(8, Math.ceil(1.5 * Math.sqrt(list.length))); // in a column, before it is split into two
  let x = 0;
  for (const layer of layers) {
    layer.forEach((p, i) => { p.x = x + Math.floor(i / most) * columnWidth; p.y = i % most * rowDistance; });
    x += Math.ceil(layer.length / most) * columnWidth;
  }
}

// layersOf puts every point one layer after the last that it depends on. It ignores links that close a cycle.
function layersOf(list) {
  const depth = new Map(), visiting = new Set(), layers = [];
  for (const start of list) {
    const stack = [start]; // no recursion: a chain may be longer than the call stack
    while (stack.length) {
      const p = stack.at(-1);
      if (depth.has(p)) { stack.pop(); continue; }
      const before = [...p.on.keys()], open = before.filter(q => !depth.has(q) && !visiting.has(q));
      if (!visiting.has(p) && open.length) { visiting.add(p); stack.push(...open); continue; }
      visiting.delete(p);
      depth.set(p, Math.max(-1, ...before.map(q => depth.get(q) ?? -1)) + 1);
      stack.pop();
    }
  }
  for (const p of list) (layers[depth.get(p)] ||= []).push(p);
  return layers.filter(Boolean);
}

// settle orders a layer by the places of what its points depend on.
function settle(layer, rank) {
  const want = new Map(layer.map(p => {
    const on = [...p.on.keys()];
    return [p, on.length ? on.reduce((sum, q) => sum + rank.get(q), 0) / on.length : rank.get(p)];
  }));
  layer.sort((a, b) => want.get(a) - want.get(b));
  layer.forEach((p, i) => rank.set(p, i));
}

// drawGraph makes the graph from scratch.
function drawGraph() {
  layOut();
  drawnGraph = true;
  edges = [];
  nodes = new Map();
  const drawn = [];
  for (const p of points.values()) for (const [to, links] of p.on) {
    const x1 = to.x + nodeWidth, y1 = to.y + nodeHeight / 2, x2 = p.x, y2 = p.y + nodeHeight / 2, c = Math.max(40, Math.abs(x2 - x1) / 2);
    const path = svg('path', { class: 'edge', 'marker-start': 'url(#head)', d: `M${x1} ${y1}C${x1 + c} ${y1} ${x2 - c} ${y2} ${x2} ${y2}` });
    const lines = links.slice(0, 10).map(l => `${l.from} → ${l.dish}: ${l.kind}${l.where ? ', ' + l.where : ''}`);
    path.append(svg('title', {}, lines.join('\n') + (links.length > 10 ? `\n… ${links.length - 10} more` : '')));
    edges.push({ path, from: p.name, to: to.name, dev: links.every(l => l.dev) });
    drawn.push(path);
  }
  for (const p of points.values()) {
    const g = p.dish ? dishNode(p) : groupNode(p);
    nodes.set(p.name, g);
    drawn.push(g);
  }
  scene.replaceChildren(...drawn);
  $('unfold').hidden = data.dishes.length <= mostUnfolded || groups.length < 2;
  markGraph();
}

function node(p, title, sub, press) {
  const g = svg('g', { class: 'node', tabindex: 0, role: 'button', transform: `translate(${p.x} ${p.y})` },
    svg('rect', { width: nodeWidth, height: nodeHeight }), svg('text', { x: 8, y: 15 }, short(title, 24)), svg('text', { class: 'sub', x: 8, y: 27 }, short(sub, 32)), svg('g', { class: 'bars' }));
  g.addEventListener('click', () => { if (!moved) press(); });
  g.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); press(); } });
  return g;
}

function dishNode(p) {
  const d = p.dish, g = node(p, d.name, [d.language, d.path].filter(Boolean).join(' · '), () => select(d.name));
  g.append(svg('title', {}, d.name + (d.path !== d.name ? '\n' + d.path : '')));
  return g;
}

function groupNode(p) {
  const g = node(p, p.name, count(p.group.dishes.length, 'dish', 'dishes'), () => { unfolded.add(p.group.name); drawGraph(); fit(); });
  g.append(svg('title', {}, 'unfold ' + p.name));
  return g;
}

// markGraph shows the states, the search and the selection in the graph that is drawn.
function markGraph() {
  const chosen = view.chosen && pointOf(view.chosen), filtered = view.query || view.state;
  const near = new Set();
  if (chosen) for (const e of edges) {
    if (e.from === chosen.name) near.add(e.to);
    if (e.to === chosen.name) near.add(e.from);
  }
  for (const p of points.values()) {
    const dishes = p.dish ? [p.dish] : p.group.dishes, hit = !filtered || dishes.some(matches);
    const close = !chosen || p === chosen || near.has(p.name);
    const g = nodes.get(p.name);
    g.setAttribute('class', 'node' + (p.group ? ' group' : '') + (p === chosen ? ' sel' : '') + (hit && (close || filtered) ? '' : ' faded'));
    const found = p.dish ? p.dish.tasks.map(t => stateOf(p.dish, t)) : [...new Set(p.group.dishes.flatMap(d => d.tasks.map(t => stateOf(d, t))))];
    const bars = found.slice(0, 8).map((s, i) => svg('rect', { class: 'bar ' + looks(s)[0], x: nodeWidth - 10 - 7 * i, y: 5, width: 5, height: 9 }));
    g.querySelector('.bars').replaceChildren(...bars);
  }
  for (const e of edges) {
    const on = chosen && (e.from === chosen.name || e.to === chosen.name);
    e.path.setAttribute('class', 'edge' + (e.dev ? ' dev' : '') + (on ? ' sel' : chosen ? ' faded' : ''));
  }
}

// Pan and zoom.
let camera = { x: 0, y: 0, k: 1 }, moved = false, drag = null;
const aim = () => scene.setAttribute('transform', `translate(${camera.x} ${camera.y}) scale(${camera.k})`);
function zoom(f, cx, cy) {
  const k = Math.min(3, Math.max(.03, camera.k * f));
  f = k / camera.k;
  camera = { x: cx - (cx - camera.x) * f, y: cy - (cy - camera.y) * f, k };
  aim();
}
function fit() {
  const box = graph.getBoundingClientRect();
  let w = 1, h = 1;
  for (const p of points.values()) { w = Math.max(w, p.x + nodeWidth); h = Math.max(h, p.y + nodeHeight); }
  const k = Math.max(.03, Math.min(1.2, (box.width - 40) / w, (box.height - 80) / h));
  camera = { k, x: Math.max(20, (box.width - w * k) / 2), y: Math.max(20, (box.height - 40 - h * k) / 2) };
  aim();
}
function center(p) {
  const box = graph.getBoundingClientRect(), k = Math.max(camera.k, .8);
  camera = { k, x: box.width / 2 - (p.x + nodeWidth / 2) * k, y: box.height / 2 - (p.y + nodeHeight / 2) * k };
  aim();
}
const zoomMiddle = f => { const b = graph.getBoundingClientRect(); zoom(f, b.width / 2, b.height / 2); };
graph.addEventListener('wheel', e => { e.preventDefault(); const b = graph.getBoundingClientRect(); zoom(Math.exp(-e.deltaY / 400), e.clientX - b.left, e.clientY - b.top); }, { passive: false });
graph.addEventListener('pointerdown', e => { drag = { x: e.clientX - camera.x, y: e.clientY - camera.y, sx: e.clientX, sy: e.clientY }; moved = false; });
addEventListener('pointermove', e => {
  if (!drag) return;
  if (Math.hypot(e.clientX - drag.sx, e.clientY - drag.sy) > 4) { moved = true; graph.classList.add('drag'); }
  if (moved) { camera.x = e.clientX - drag.x; camera.y = e.clientY - drag.y; aim(); }
});
addEventListener('pointerup', () => { drag = null; graph.classList.remove('drag'); });
$('fit').addEventListener('click', fit);
$('in').addEventListener('click', () => zoomMiddle(1.3));
$('out').addEventListener('click', () => zoomMiddle(1 / 1.3));
$('unfold').addEventListener('click', () => {
  allUnfolded = !allUnfolded;
  unfolded.clear();
  $('unfold').setAttribute('aria-pressed', allUnfolded);
  drawGraph();
  fit();
});
