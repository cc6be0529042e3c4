// The panel of the selected dish.

let logOf = null; // the id of the task whose log is open
let readLog = null; // reads the log of a task; only a served page has one

function details(d) {
  const close = el('button', { textContent: '×', title: 'close (esc)', 'aria-label': 'close', onclick: () => select(null) });
  close.style.float = 'right';
  const out = [close, el('h2', { textContent: d.name, tabIndex: -1 }), el('div', { className: 'dim', textContent: [d.path, d.language].filter(Boolean).join(' · ') })];
  const section = (title, items) => { if (items.length) out.push(el('h3', { textContent: title }), el('ul', {}, ...items)); };
  if (d.tasks.length) out.push(el('h3', { textContent: 'tasks' }), ...d.tasks.map(t => taskDetails(d, t)));
  section('depends on', d.links.map(l => el('li', {}, go(l.dish), el('span', { className: 'dim', textContent: ' ' + [l.kind, l.where, l.via && 'via ' + l.via, l.dev && 'development only', l.cyclic && 'closes a cycle'].filter(Boolean).join(', ') }))));
  section('needed by', (needed.get(d.name) || []).map(name => el('li', {}, go(name))));
  return out;
}

const go = name => el('a', { href: '#', textContent: name, onclick: e => { e.preventDefault(); if (byName.has(name)) { select(name); show(name); focusPanel(); } } });

function taskDetails(d, t) {
  const id = d.name + ':' + t.name, state = stateOf(d, t), known = latest.get(id), body = [el('pre', { textContent: t.run })];
  const row = (k, v) => { if (v) body.push(el('div', {}, el('span', { className: 'dim', textContent: k + ' ' }), el('code', { textContent: v }))); };
  row('why', state === 'failed' && known && known.row.message || t.why);
  row('key', t.key);
  row('log', t.log);
  row('waits for', (t.depends_on || []).join(', '));
  if (t.input_count) {
    const some = t.inputs || [];
    body.push(el('details', {}, el('summary', { textContent: count(t.input_count, 'input') }), el('pre', { textContent: some.join('\n') + (t.input_count > some.length ? '\n…' : '') })));
  }
  const ran = known && known.row.outcome !== 'running' ? known.row : data.run && data.run.tasks.find(r => r.id === id);
  if (ran) row('last run', looks(ran.outcome)[2] + (ran.duration_ms === undefined ? '' : ' in ' + seconds(ran.duration_ms)));
  if (readLog) body.push(...logDetails(id));
  return el('details', { className: 'task', open: d.tasks.length < 4 || id === logOf },
    el('summary', {}, el('b', { textContent: t.name + ' ' }), sign(state, looks(state)[2])), ...body);
}

function logDetails(id) {
  const open = id === logOf;
  const button = el('button', { textContent: open ? 'hide the log' : 'show the log', 'aria-expanded': open, onclick: () => { logOf = open ? null : id; drawPanel(); if (logOf) refreshLog(); } });
  return open ? [button, el('pre', { className: 'log', id: 'log', tabIndex: 0, 'aria-label': 'the log of ' + id, textContent: logText.id === id ? logText.text : '…' })] : [button];
}

let logText = { id: null, text: '' };
async function refreshLog() {
  const id = logOf;
  if (!id) return;
  const text = await readLog(id);
  if (id !== logOf || logText.id === id && logText.text === text) return;
  logText = { id, text };
  const box = $('log');
  if (!box) return;
  const end = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
  box.textContent = text;
  if (end) box.scrollTop = box.scrollHeight;
}

let panelHas = ''; // what the panel shows, as text

// drawPanel draws the panel again if it shows something else, and keeps what the user has opened.
function drawPanel() {
  const d = view.chosen && byName.get(view.chosen), panel = $('panel');
  panel.hidden = !d;
  const has = d ? JSON.stringify([d, needed.get(d.name), logOf, d.tasks.map(t => [stateOf(d, t), latest.get(d.name + ':' + t.name)?.row])]) : '';
  if (has === panelHas) return;
  panelHas = has;
  if (!d) return;
  const logTop = $('log') ? $('log').scrollTop : 0;
  const same = panel.dataset.dish === d.name, focused = panel.contains(document.activeElement);
  const open = same ? [...panel.querySelectorAll('details')].map(x => x.open) : [], top = same ? panel.scrollTop : 0;
  panel.dataset.dish = d.name;
  panel.replaceChildren(...details(d));
  const now = panel.querySelectorAll('details');
  if (now.length === open.length) now.forEach((x, i) => { x.open = open[i]; });
  panel.scrollTop = top;
  if ($('log')) $('log').scrollTop = logTop;
  if (focused) focusPanel();
}

function focusPanel() {
  const head = $('panel').querySelector('h2');
  if (head && !$('panel').hidden) head.focus({ preventScroll: true });
}
