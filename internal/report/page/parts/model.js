'use strict';
// What the page knows: the dishes, their tasks, and the runs. The other parts only show it.

const $ = id => document.getElementById(id);
const el = (tag, props, ...kids) => {
  const e = document.createElement(tag);
  for (const k in props || {}) k.includes('-') || k === 'role' ? e.setAttribute(k, props[k]) : e[k] = props[k];
  e.append(...kids);
  return e;
};
const short = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s;
const count = (n, one, more) => n + ' ' + (n === 1 ? one : more || one + 's');
const seconds = ms => ms < 1000 ? Math.round(ms) + ' ms' : (ms / 1000).toFixed(1) + ' s';

// How states are shown: a class, a sign that needs no colour, and words.
const states = {
  running: ['now', '▶', 'running'], failed: ['bad', '✗', 'failed'], cache_miss: ['run', '●', 'to run'], built: ['ok', '✓', 'built'],
  installed: ['ok', '✓', 'installed'], cache_hit: ['hit', '=', 'hit'], skipped: ['hit', '–', 'skipped'],
};
const looks = state => states[state] || ['hit', '–', state.replaceAll('_', ' ')];

let data = { title: '', dishes: [] };
let byName = new Map(); // dishes
let needed = new Map(); // the names of the dishes that depend on a dish
let groups = []; // of dishes, by directory: {name, dishes}
let groupOf = new Map();
const runs = new Map(); // those that the server reports, by id
let latest = new Map(); // by the id of a task: its row in the newest run that has one

// take makes d the content of the page.
function take(d) {
  data = d;
  byName = new Map(d.dishes.map(x => [x.name, x]));
  needed = new Map();
  for (const x of d.dishes) {
    x.text = [x.name, x.path, x.language, ...x.tasks.map(t => x.name + ':' + t.name)].join('\n').toLowerCase();
    for (const l of x.links) needed.set(l.dish, [...needed.get(l.dish) || [], x.name]);
  }
  gather();
}

// gather puts the dishes into groups by their parent directories. If these are almost as many as the dishes, the first
// directories of the paths are the groups.
function gather() {
  const parent = p => p.includes('/') ? p.slice(0, p.lastIndexOf('/')) : '.';
  const first = p => p.includes('/') ? p.slice(0, p.indexOf('/')) : '.';
  const by = new Set(data.dishes.map(d => parent(d.path))).size > data.dishes.length / 2 ? first : parent;
  const all = new Map();
  for (const d of data.dishes) {
    const name = by(d.path);
    if (!all.has(name)) all.set(name, { name, dishes: [] });
    all.get(name).dishes.push(d);
  }
  groups = [...all.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  groupOf = new Map();
  for (const g of groups) for (const d of g.dishes) groupOf.set(d.name, g);
}

// collect finds the newest row of every task.
function collect() {
  latest = new Map();
  const inOrder = [...runs.values()].sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
  for (const run of inOrder) for (const [id, row] of run.rows) latest.set(id, { run, row });
}

// stateOf returns the state of a task: that of a run, unless its files were looked at after that run. A failure counts
// until the task is a hit.
function stateOf(dish, task) {
  const known = latest.get(dish.name + ':' + task.name);
  if (!known) return task.status;
  const { run, row } = known;
  if (row.outcome === 'running') return run.state === 'running' ? 'running' : task.status;
  if (!run.settled || row.outcome === 'failed' && task.status !== 'cache_hit') return row.outcome;
  return task.status;
}

// shownRun returns the run of the timeline: the newest that is running, else the newest of all.
function shownRun() {
  let best = null;
  for (const run of runs.values()) {
    const more = !best || (run.state === 'running') - (best.state === 'running') || Date.parse(run.started_at) - Date.parse(best.started_at);
    if (!best || more > 0) best = run;
  }
  const last = data.run;
  if (!best || last && best.state !== 'running' && Date.parse(last.started_at) >= Date.parse(best.started_at)) return last || null;
  return { ...best, tasks: [...best.rows.values()], duration_ms: best.state === 'running' ? Date.now() - Date.parse(best.started_at) : best.duration_ms };
}

// What the user has asked for.
const view = { query: '', state: '', chosen: null, graph: false };

function matches(d) {
  if (!view.query.split(/\s+/).every(word => d.text.includes(word))) return false;
  return !view.state || d.tasks.some(t => looks(stateOf(d, t))[2] === view.state);
}
