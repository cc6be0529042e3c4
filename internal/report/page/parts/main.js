// Search, filters, keys and colours; the start.

function select(name) {
  view.chosen = name;
  logOf = null;
  drawPanel();
  drawList();
  if (drawnGraph) markGraph();
}

// show brings a dish into sight.
function show(name) {
  if (view.graph) return center(pointOf(name));
  const i = rows.findIndex(r => r.dish && r.dish.name === name);
  if (i < 0 && byName.has(name)) { fold(groupOf.get(name), false); }
  move(Math.max(0, rows.findIndex(r => r.dish && r.dish.name === name)));
}

// draw shows all again, after a change of the data, the states or the search.
function draw() {
  $('title').textContent = data.title;
  document.title = data.title;
  drawFilters();
  listRows();
  drawList();
  drawPanel();
  if (drawnGraph) markGraph();
  drawTimeline();
}

function drawFilters() {
  const numbers = new Map();
  for (const d of data.dishes) for (const t of d.tasks) {
    const word = looks(stateOf(d, t))[2];
    numbers.set(word, (numbers.get(word) || 0) + 1);
  }
  const focused = $('filters').contains(document.activeElement) && document.activeElement.dataset.word;
  $('filters').replaceChildren(...['running', 'failed', 'to run', 'built', 'hit'].filter(word => numbers.has(word) || word === view.state).map(word => {
    const state = Object.keys(states).find(s => states[s][2] === word);
    const button = el('button', { className: looks(state)[0], 'aria-pressed': view.state === word, textContent: `${looks(state)[1]} ${numbers.get(word) || 0} ${word}`, onclick: () => { view.state = view.state === word ? '' : word; draw(); } });
    button.dataset.word = word;
    return button;
  }));
  if (focused) for (const b of $('filters').children) if (b.dataset.word === focused) b.focus();
}

function setView(asGraph) {
  view.graph = asGraph;
  $('list').hidden = asGraph;
  $('drawing').hidden = !asGraph;
  $('as-list').setAttribute('aria-pressed', !asGraph);
  $('as-graph').setAttribute('aria-pressed', asGraph);
  if (asGraph && !drawnGraph) { drawGraph(); fit(); }
  if (!asGraph) drawList();
}

// The colours: those of the system, or the other ones.
const themes = ['system', 'dark', 'light'];
let theme = 'system';
function setTheme(name) {
  theme = themes.includes(name) ? name : 'system';
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $('theme').textContent = 'colours: ' + theme;
  try { localStorage.setItem('bento-theme', theme); } catch { /* the choice holds until the page is closed */ }
}
const nextTheme = () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);

const search = $('search');
search.addEventListener('input', () => { view.query = search.value.trim().toLowerCase(); at = 0; list.scrollTop = 0; draw(); });
search.addEventListener('keydown', e => {
  if (e.key === 'Enter') {
    const first = rows.find(r => r.dish);
    if (first) { select(first.dish.name); show(first.dish.name); focusPanel(); }
  }
  if (e.key === 'ArrowDown') { e.preventDefault(); (view.graph ? graph.querySelector('.node:not(.faded)') : list)?.focus(); }
});

// escape closes what is open, the newest first.
function escape() {
  if (view.chosen) {
    const inside = $('panel').contains(document.activeElement);
    select(null);
    if (inside) (view.graph ? $('search') : list).focus();
    return;
  }
  search.value = view.query = view.state = '';
  draw();
}

const pageKeys = {
  '/': () => { search.focus(); search.select(); }, g: () => setView(!view.graph), t: nextTheme, r: () => { if (!$('refresh').hidden) $('refresh').click(); },
  '?': () => $('keys').showModal(), j: () => { list.focus(); move(at + 1); }, k: () => { list.focus(); move(at - 1); },
};
const keyHelp = [['/', 'search'], ['↑ ↓', 'move in the list (also j, k)'], ['← →', 'fold and unfold a directory'], ['enter', 'open a dish, or the first that is found'], ['esc', 'close the dish, then end the search'],
  ['g', 'list or graph'], ['t', 'colours: of the system, dark, light'], ['r', 'evaluate again (bento ui)'], ['?', 'these keys']];
addEventListener('keydown', e => {
  if (e.ctrlKey || e.altKey || e.metaKey || $('keys').open) return;
  if (e.key === 'Escape') return escape();
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  const key = pageKeys[e.key];
  if (!key || typing) return;
  e.preventDefault();
  key();
});

$('as-list').addEventListener('click', () => setView(false));
$('as-graph').addEventListener('click', () => setView(true));
$('theme').addEventListener('click', nextTheme);
$('help').addEventListener('click', () => $('keys').showModal());
$('keys').append(el('dl', {}, ...keyHelp.flatMap(([key, what]) => [el('dt', { textContent: key }), el('dd', { textContent: what })])), el('form', { method: 'dialog' }, el('button', { textContent: 'close' })));
addEventListener('resize', () => { drawList(); drawTimeline(); });

// start shows the page for the first time.
function start(d, asGraph) {
  take(d);
  foldQuiet();
  // bento x ID sends the action of a panel of an extension.
  if (d.panels) $('panels').replaceChildren(...d.panels.map(p => el('span', { title: 'bento x ' + p.id }, '▸ ' + short(p.title, 40) + ' ')));
  draw();
  setView(asGraph);
}

let saved = null;
try { saved = localStorage.getItem('bento-theme'); } catch { /* none is saved */ }
setTheme(saved);
const embedded = JSON.parse($('data').textContent);
if (embedded) start(embedded, true);
