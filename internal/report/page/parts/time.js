// The timeline of a run.

const laneHeight = 20;

// lanesOf puts the bars, sorted by start, into lanes: each into its row, or else into the first lane that is free at its
// start. Bars that begin within the same pixels of a lane are one bar, so that their number has a bound.
function lanesOf(tasks, scale) {
  const lanes = [];
  for (const t of tasks) {
    const start = t.start_ms * scale, end = start + Math.max(2, t.duration_ms * scale);
    const free = t.row ?? lanes.findIndex(lane => lane.at(-1).until <= t.start_ms);
    while (lanes.length <= free) lanes.push([]);
    const lane = free < 0 ? lanes[lanes.push([]) - 1] : lanes[free], before = lane.at(-1);
    if (before && start < before.start + 2 && end < before.start + 4) {
      before.tasks.push(t);
      before.until = Math.max(before.until, t.start_ms + t.duration_ms);
    } else lane.push({ start, end, until: t.start_ms + t.duration_ms, tasks: [t] });
  }
  return lanes;
}

function drawTimeline() {
  const run = shownRun(), footer = $('last');
  footer.hidden = !run || !run.tasks.length;
  if (footer.hidden) return;
  const ends = { killed: ', killed', running: ', running' }[run.state] || '';
  $('runtitle').textContent = `${run.command} — ${seconds(run.duration_ms)}${ends}, ${new Date(run.started_at).toLocaleString()}`;
  const tasks = run.tasks.filter(t => t.start_ms !== undefined).sort((a, b) => a.start_ms - b.start_ms)
    .map(t => t.outcome === 'running' ? { ...t, duration_ms: Math.max(0, run.duration_ms - t.start_ms) } : t);
  const width = Math.max(200, footer.clientWidth - 26), total = tasks.reduce((most, t) => Math.max(most, t.start_ms + t.duration_ms), Math.max(1, run.duration_ms));
  const lanes = lanesOf(tasks, width / total), time = $('time'), height = lanes.length * laneHeight + 18, drawn = [];
  time.setAttribute('height', height);
  time.setAttribute('viewBox', `0 0 ${width} ${height}`);
  time.setAttribute('aria-label', `timeline of ${count(tasks.length, 'task')}`);
  for (let i = 0; i <= 4; i++) drawn.push(svg('text', { class: 'axis', x: Math.min(i * width / 4, width - 40), y: height - 4 }, seconds(i * total / 4)));
  lanes.forEach((lane, y) => lane.forEach(bar => drawn.push(...drawBar(bar, y * laneHeight))));
  time.replaceChildren(...drawn);
}

// worst is the order in which the state of one task stands for several.
const worst = ['failed', 'running', 'built', 'installed', 'skipped', 'cache_hit'];

function drawBar(bar, y) {
  const first = bar.tasks[0], outcome = worst.find(o => bar.tasks.some(t => t.outcome === o)) || first.outcome, width = Math.max(2, bar.end - bar.start);
  const dish = dishOfTask(first.id), faded = (view.query || view.state) && !bar.tasks.some(t => { const d = dishOfTask(t.id); return d && matches(d); });
  const rect = svg('rect', { class: looks(outcome)[0] + (bar.tasks.some(t => t.critical) ? ' critical' : '') + (faded ? ' faded' : ''), x: bar.start, y, width, height: 16, rx: 2 });
  const line = t => `${t.id}: ${looks(t.outcome)[2]}, ${seconds(t.duration_ms)}${t.critical ? ', critical path' : ''}`;
  rect.append(svg('title', {}, bar.tasks.slice(0, 10).map(line).join('\n') + (bar.tasks.length > 10 ? `\n… ${bar.tasks.length - 10} more` : '')));
  rect.addEventListener('click', () => { if (dish) { select(dish.name); show(dish.name); } });
  return width > 60 ? [rect, svg('text', { x: bar.start + 4, y: y + 12 }, short(first.id, Math.floor(width / 7)))] : [rect];
}

// dishOfTask finds the dish of a task. The names of both may contain colons.
function dishOfTask(id) {
  for (let i = id.indexOf(':'); i > 0; i = id.indexOf(':', i + 1)) if (byName.has(id.slice(0, i))) return byName.get(id.slice(0, i));
  return null;
}
