package panes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// The phases of a task that has no result.
const (
	waiting = "waiting"
	running = "running"
	serving = "serving"
)

// task is a watched task, or one that it depends on.
type task struct {
	*plan.Task
	phase  string      // "" if result says how it ended
	result *run.Result // the last one; nil for none
	since  time.Time   // of running and serving
}

// model is what the panes show, and the position of the user in it.
type model struct {
	style report.Style
	title string
	logs  *logs
	tasks []*task // by id
	byID  map[string]*task
	said  string // the end of the messages

	chosen string // the id of a task
	top    int    // the first shown row of the list
	filter string
	typing bool // keys go to the filter
	zoomed bool // the log has the whole width
	help   bool
	ending bool // the user has pressed q or Ctrl-C
	saying bool // the messages are shown in place of the log
	up     int  // the lines between the end of the log and the shown end; the log is not read again unless 0
	page   int  // the shown lines of the log
}

func newModel(style report.Style, title string, l *logs) model {
	return model{style: style, title: title, logs: l, byID: make(map[string]*task)}
}

// maxSaid bounds the kept messages, in bytes.
const maxSaid = 64 << 10

func (m *model) note(text string) {
	m.said += text
	if over := len(m.said) - maxSaid; over > 0 {
		m.said = m.said[over:]
	}
}

// SetPlan sets the watched tasks. Those that were shown before keep their states.
func (p *Panes) SetPlan(of *plan.Plan) {
	p.mu.Lock()
	p.model.setPlan(of.Tasks)
	p.mu.Unlock()
	p.changed()
}

func (m *model) setPlan(tasks []*plan.Task) {
	byID := make(map[string]*task, len(tasks))
	m.tasks = m.tasks[:0]
	for _, t := range tasks {
		now := m.byID[t.ID()]
		if now == nil {
			now = &task{phase: waiting}
		}
		now.Task = t
		byID[t.ID()] = now
		m.tasks = append(m.tasks, now)
	}
	m.byID = byID
	slices.SortFunc(m.tasks, func(a, b *task) int { return cmp.Compare(a.ID(), b.ID()) })
}

// Report notes an event of a run.
func (p *Panes) Report(ev run.Event) {
	switch ev.(type) {
	case run.InstallStarted, run.InstallLog, run.InstallFinished, run.Warned:
		p.lines.Report(ev)
		return
	case run.TaskOutput:
		return
	}
	p.mu.Lock()
	p.model.take(ev, time.Now())
	p.mu.Unlock()
	if end, ok := ev.(run.Finished); ok {
		for _, i := range end.Report.Installs {
			if i.Err != nil {
				fmt.Fprintf(p.Messages(), "bento: install of %s failed: %v\n", i.Dish, i.Err)
			}
		}
	}
	p.changed()
}

// Restart notes that a server starts again.
func (p *Panes) Restart(id, why string) {
	fmt.Fprintf(p.Messages(), "bento: restart %s: %s\n", id, why)
}

func (m *model) take(ev run.Event, now time.Time) {
	switch ev := ev.(type) {
	case run.TaskStarted:
		t := m.byID[ev.Task.ID()]
		if t == nil {
			return
		}
		if t.phase, t.since = running, now; ev.Task.Persistent {
			t.phase = serving
		}
		if m.chosen == t.ID() {
			m.up = 0 // its log begins again
		}
	case run.TaskFinished:
		r := ev.Result
		t := m.byID[r.Task.ID()]
		if t == nil || r.Task.Persistent && r.Outcome == run.CacheHit {
			return
		}
		if r.Outcome == run.CacheHit && t.result != nil && t.result.Key == r.Key && t.result.Outcome == run.Built {
			t.phase = "" // the result of its last execution
			return
		}
		t.phase, t.result = "", r
	}
}

// Failed returns the tasks whose last result is a failure.
func (p *Panes) Failed() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.model.tasks {
		if t.phase == "" && t.result.Outcome == run.Failed {
			ids = append(ids, t.ID())
		}
	}
	return ids
}

// running returns the number of running tasks and servers.
func (m *model) running() (n int) {
	for _, t := range m.tasks {
		if t.phase == running || t.phase == serving {
			n++
		}
	}
	return n
}

// word returns the state of a task, and its paint.
func (m *model) word(t *task) (text string, paint func(string) string) {
	switch {
	case t.phase == running, t.phase == serving:
		return t.phase, m.style.Bold
	case t.phase != "":
		return t.phase, m.style.Dim
	case t.result.Stopped:
		return "stopped", m.style.Dim
	}
	switch t.result.Outcome {
	case run.CacheHit:
		return "hit", m.style.Dim
	case run.Built:
		return "built", m.style.Green
	case run.Failed:
		return "FAILED", m.style.Red
	}
	return "skipped", m.style.Yellow
}

// totals counts the tasks by their states.
func (m *model) totals() string {
	failed, active := 0, m.running()
	for _, t := range m.tasks {
		if t.phase == "" && t.result.Outcome == run.Failed {
			failed++
		}
	}
	parts := []string{report.Count(len(m.tasks), "task")}
	if active > 0 {
		parts = append(parts, fmt.Sprintf("%d running", active))
	}
	if failed > 0 {
		parts = append(parts, m.style.Red(fmt.Sprintf("%d failed", failed)))
	}
	return strings.Join(parts, ", ")
}

// listed returns the tasks that the filter leaves.
func (m *model) listed() []*task {
	if m.filter == "" {
		return m.tasks
	}
	var list []*task
	for _, t := range m.tasks {
		if strings.Contains(strings.ToLower(t.ID()), strings.ToLower(m.filter)) {
			list = append(list, t)
		}
	}
	return list
}

// current returns the chosen task and its row: the first one if none is chosen, or the filter hides it. It is nil if the
// list is empty.
func (m *model) current(list []*task) (t *task, row int) {
	if len(list) == 0 {
		return nil, 0
	}
	row = max(0, slices.IndexFunc(list, func(t *task) bool { return t.ID() == m.chosen }))
	return list[row], row
}
