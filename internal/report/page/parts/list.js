// The list of dishes by directory. Only the rows in sight are in the document.

const rowHeight = 28;
const list = $('list'), rowsBox = $('rows');
const folded = new Set(); // names of groups
let rows = []; // {group} and {dish}
let at = 0; // the current row
let shown = 0; // the number of dishes that match

// foldQuiet folds the groups of a large workspace that have nothing but hits.
function foldQuiet() {
  if (data.dishes.length <= 100 || groups.length < 2) return;
  for (const g of groups) if (g.dishes.every(d => d.tasks.every(t => t.status === 'cache_hit'))) folded.add(g.name);
}

// listRows makes the rows. A search looks into folded groups, too.
function listRows() {
  const current = rows[at];
  const all = !view.query && !view.state;
  rows = [];
  shown = 0;
  for (const group of groups) {
    const dishes = all ? group.dishes : group.dishes.filter(matches);
    shown += dishes.length;
    if (!dishes.length) continue;
    rows.push({ group, dishes });
    if (!all || !folded.has(group.name)) for (const dish of dishes) rows.push({ dish, group });
  }
  const same = current ? rows.findIndex(r => r.dish?.name === current.dish?.name && r.group.name === current.group.name) : -1;
  at = same >= 0 ? same : Math.max(0, Math.min(at, rows.length - 1));
  $('count').textContent = all ? count(data.dishes.length, 'dish', 'dishes') : shown + ' of ' + data.dishes.length;
}

function drawList() {
  rowsBox.style.height = rows.length * rowHeight + 'px';
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5);
  const end = Math.min(rows.length, first + Math.ceil((list.clientHeight || 600) / rowHeight) + 10);
  const drawn = [];
  for (let i = first; i < end; i++) drawn.push(drawRow(rows[i], i));
  rowsBox.replaceChildren(...drawn);
  if (at >= first && at < end && rows.length) list.setAttribute('aria-activedescendant', 'row' + at);
  else list.removeAttribute('aria-activedescendant');
}

function drawRow(row, i) {
  const e = el('div', {
    id: 'row' + i, className: 'row ' + (row.dish ? 'dish' : 'group') + (i === at ? ' at' : ''), role: 'treeitem',
    'aria-level': row.dish ? 2 : 1, 'aria-selected': Boolean(row.dish) && row.dish.name === view.chosen,
  }, ...(row.dish ? dishCells(row.dish) : groupCells(row)));
  if (!row.dish) e.setAttribute('aria-expanded', !isFolded(row.group));
  e.style.top = i * rowHeight + 'px';
  e.addEventListener('click', () => { at = i; act(); });
  return e;
}

const isFolded = group => !view.query && !view.state && folded.has(group.name);

const sign = (state, text, title) => el('span', { className: looks(state)[0], title: title || looks(state)[2], textContent: looks(state)[1] + ' ' + text });

function dishCells(d) {
  const signs = d.tasks.slice(0, 12).map(t => sign(stateOf(d, t), short(t.name, 24), d.name + ':' + t.name + ': ' + looks(stateOf(d, t))[2]));
  if (d.tasks.length > 12) signs.push(el('span', { className: 'dim', textContent: '+' + (d.tasks.length - 12) }));
  return [
    el('span', { className: 'name', textContent: d.name }),
    el('span', { className: 'path dim', textContent: [d.path !== d.name && d.path, d.language].filter(Boolean).join(' · ') }),
    el('span', { className: 'tasks' }, ...signs),
  ];
}

function groupCells({ group, dishes }) {
  const numbers = new Map();
  for (const d of dishes) for (const t of d.tasks) {
    const state = stateOf(d, t);
    numbers.set(state, (numbers.get(state) || 0) + 1);
  }
  const known = Object.keys(states).filter(s => numbers.has(s)).map(s => sign(s, numbers.get(s) + ' ' + looks(s)[2]));
  return [
    el('span', { className: 'name', textContent: (isFolded(group) ? '▸ ' : '▾ ') + group.name + '/' }),
    el('span', { className: 'dim', textContent: count(dishes.length, 'dish', 'dishes') }),
    el('span', { className: 'tasks' }, ...known),
  ];
}

// act folds or unfolds the current group, or opens the current dish.
function act() {
  const row = rows[at];
  if (!row) return;
  if (row.dish) return select(row.dish.name);
  fold(row.group, !folded.has(row.group.name));
}

function fold(group, close) {
  if (close) folded.add(group.name);
  else folded.delete(group.name);
  listRows();
  drawList();
}

function move(to) {
  at = Math.max(0, Math.min(rows.length - 1, to));
  if (at * rowHeight < list.scrollTop) list.scrollTop = at * rowHeight;
  const below = (at + 1) * rowHeight - list.clientHeight;
  if (below > list.scrollTop) list.scrollTop = below;
  drawList();
}

const listKeys = {
  ArrowDown: () => move(at + 1), ArrowUp: () => move(at - 1), Home: () => move(0), End: () => move(rows.length - 1),
  PageDown: () => move(at + Math.floor(list.clientHeight / rowHeight)), PageUp: () => move(at - Math.floor(list.clientHeight / rowHeight)),
  ArrowRight: () => rows[at] && !rows[at].dish && isFolded(rows[at].group) ? fold(rows[at].group, false) : move(at + 1),
  ArrowLeft: () => {
    const row = rows[at];
    if (row && row.dish) move(rows.findIndex(r => !r.dish && r.group.name === row.group.name));
    else if (row) fold(row.group, true);
  },
  Enter: () => { act(); focusPanel(); }, ' ': () => { act(); focusPanel(); },
};
list.addEventListener('keydown', e => {
  const key = listKeys[e.key];
  if (!key || e.ctrlKey || e.altKey || e.metaKey) return;
  e.preventDefault();
  key();
});
list.addEventListener('scroll', drawList, { passive: true });
