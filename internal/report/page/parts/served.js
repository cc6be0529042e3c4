// A served page: its data and the runs come from bento ui.

// The token is in the address, after "#". It is kept for this tab, and taken out of the address.
let token = location.hash.slice(1);
if (token) {
  sessionStorage.setItem('bento-token', token);
  history.replaceState(null, '', location.pathname);
} else token = sessionStorage.getItem('bento-token') || '';

const ask = (path, more) => fetch(path, { ...more, headers: { Authorization: 'Bearer ' + token }, cache: 'no-store' });

function say(text) {
  $('notice').hidden = !text;
  $('notice').textContent = text || '';
}

readLog = async id => {
  try {
    const answer = await ask('log?task=' + encodeURIComponent(id));
    return await answer.text() || 'it printed nothing';
  } catch {
    return 'bento ui does not answer';
  }
};

let loads = 0; // the evaluation that is shown
let loading = false, stale = false;
async function load() {
  if (loading) { stale = true; return; }
  loading = true;
  try {
    do {
      stale = false;
      const answer = await ask('data');
      if (!answer.ok) break;
      const d = await answer.json();
      for (const run of runs.values()) if (run.state !== 'running') run.settled = true;
      if (loads++) again(d); else start(d, false);
    } while (stale);
  } catch { /* the stream finds out that the server is gone */ }
  loading = false;
}

function again(d) {
  take(d);
  draw();
  if (view.graph) drawGraph();
  else drawnGraph = false;
}

// What the server reports.
let shownLoads = -1;
const heard = {
  status(s) {
    $('live').hidden = !s.busy;
    $('live').textContent = s.busy ? 'evaluating …' : '';
    $('refresh').disabled = s.busy;
    say(s.problem ? 'the workspace cannot be evaluated: ' + s.problem : '');
    if (s.ready && s.loads !== shownLoads) { shownLoads = s.loads; load(); }
  },
  runs(ids) {
    for (const id of runs.keys()) if (!ids.includes(id)) runs.delete(id);
    changed = true;
  },
  run(r) {
    const rows = runs.has(r.id) ? runs.get(r.id).rows : new Map();
    for (const row of r.rows) rows.set(row.id, row);
    runs.set(r.id, { ...r, rows });
    changed = true;
  },
};

// Changes are drawn once a frame at most; a running task grows each second.
let changed = false, drawnAt = 0;
function drawChanges(now) {
  requestAnimationFrame(drawChanges);
  const running = [...runs.values()].some(r => r.state === 'running');
  if (!changed && !(running && now - drawnAt > 1000) || now - drawnAt < 100) return;
  const grown = !changed;
  changed = false;
  drawnAt = now;
  if (grown) drawTimeline();
  else { collect(); draw(); }
  if (logOf) refreshLog();
}
requestAnimationFrame(drawChanges);

// listen hears the server until the connection ends, and returns the status of the answer.
async function listen(signal) {
  const answer = await ask('events', { signal });
  if (!answer.ok) return answer.status;
  runs.clear();
  shownLoads = -1;
  say('');
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return 0;
    text += value;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) hear(text.slice(0, end));
  }
}

function hear(message) {
  const [, event, body] = /^event: (\w+)\ndata: (.*)$/.exec(message) || [];
  if (event in heard) heard[event](JSON.parse(body));
}

// A page that is not seen does not listen: a browser has few connections for all pages of one server.
let listening = null;
async function follow() {
  let pause = 250;
  while (!document.hidden) {
    listening = new AbortController();
    let status = 0;
    const began = performance.now();
    try { status = await listen(listening.signal); } catch { /* the connection was cut */ }
    if (document.hidden) break;
    if (status === 401) { listening = null; return say('This page has no valid token: open the address that bento ui has printed.'); }
    if (performance.now() - began > 5000) pause = 250;
    say(status === 503 ? 'Too many pages are open. This one tries again.' : 'bento ui does not answer. This page tries again.');
    await new Promise(next => setTimeout(next, pause));
    pause = Math.min(5000, pause * 2);
  }
  listening = null;
}
document.addEventListener('visibilitychange', () => {
  if (document.hidden) { if (listening) listening.abort(); } else if (!listening) follow();
});

$('refresh').hidden = false;
$('refresh').addEventListener('click', () => { ask('refresh', { method: 'POST' }).catch(() => {}); });
follow();
