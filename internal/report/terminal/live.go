package terminal

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// The size of the block, and the interval of its redraws.
const (
	redraw   = 125 * time.Millisecond
	maxRows  = 8   // running tasks shown
	lastLine = 512 // bytes of a task's output that its row can show
)

// Live reports a run at a terminal: ended tasks in lines that stay, running ones in a block below.
type Live struct {
	*Lines
	Screen *Screen

	mu       sync.Mutex
	running  []*row
	rows     map[*plan.Task]*row
	estimate []time.Duration // by task: the expected duration of a task that will run
	left     time.Duration   // the sum of the estimates of tasks that have not ended
	workers  int
	total    int
	ended    int
	counts   map[run.Outcome]int
	ends     map[*plan.Task]run.Outcome
	lent     *plan.Task      // has the terminal
	rest     func() []string // returns the lines of the block between two runs; nil during a run
	stop     chan struct{}
	stopped  chan struct{}
}

// row is a task or an install that is running.
type row struct {
	name  string
	since time.Time
	last  []byte // the end of its output
	far   bool   // it is executed on another machine
}

// Live returns true: rows show the last line of TaskOutput events.
func (l *Live) Live() bool { return true }

// Report renders one event.
func (l *Live) Report(ev run.Event) {
	l.note(ev)
	l.Lines.Report(ev)
	switch ev := ev.(type) {
	case run.Started:
		l.begin()
	case run.TaskStarted:
		if ev.Terminal {
			l.lent = ev.Task
			l.end()
		}
	case run.TaskFinished:
		if ev.Result.Task == l.lent {
			l.lent = nil
			l.begin()
		}
	}
}

// Rest shows the lines of a function until the next run starts, and no block if the function is nil. The caller
// must not call it during a run.
func (l *Live) Rest(lines func() []string) {
	l.end()
	l.mu.Lock()
	l.rest = lines
	l.mu.Unlock()
	if lines != nil {
		l.begin()
	}
}

// begin starts to draw the block.
func (l *Live) begin() {
	if l.stop != nil {
		return
	}
	l.stop, l.stopped = make(chan struct{}), make(chan struct{})
	go l.draw()
}

// note updates the model of the block.
func (l *Live) note(ev run.Event) {
	if _, end := ev.(run.Finished); end {
		l.end()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch ev := ev.(type) {
	case run.Started:
		l.rows, l.counts = make(map[*plan.Task]*row), make(map[run.Outcome]int)
		l.ends = make(map[*plan.Task]run.Outcome)
		l.estimate, l.workers, l.total = ev.Estimate, ev.Workers, len(ev.Plan.Tasks)
		l.rest, l.running, l.left, l.ended = nil, nil, 0, 0
		for _, d := range ev.Estimate {
			l.left += d
		}
	case run.InstallStarted:
		l.running = append(l.running, &row{name: installName(ev.Install.Dish), since: time.Now()})
	case run.InstallLog:
		if r := l.find(installName(ev.Install.Dish)); r != nil {
			r.note([]byte(ev.Log.Message + "\n"))
		}
	case run.InstallFinished:
		l.remove(l.find(installName(ev.Install.Dish)))
	case run.TaskStarted:
		l.remove(l.rows[ev.Task]) // it was executed elsewhere, in vain
		r := &row{name: ev.Task.ID(), since: time.Now(), far: ev.Far}
		l.rows[ev.Task] = r
		l.running = append(l.running, r)
	case run.TaskOutput:
		if !l.streams(ev.Task) { // it stands above the block
			l.rows[ev.Task].note(ev.Data)
		}
	case run.TaskFinished:
		l.finished(ev.Result)
	}
}

func installName(dish string) string { return dish + ": install" }

func (l *Live) finished(r *run.Result) {
	l.remove(l.rows[r.Task])
	delete(l.rows, r.Task)
	if was, again := l.ends[r.Task]; again { // the task has failed later
		l.counts[was]--
		l.counts[r.Outcome]++
		return
	}
	l.ended++
	l.ends[r.Task] = r.Outcome
	l.counts[r.Outcome]++
	if i := r.Task.Index; i < len(l.estimate) {
		l.left -= l.estimate[i]
	}
}

func (l *Live) find(name string) *row {
	for _, r := range l.running {
		if r.name == name {
			return r
		}
	}
	return nil
}

func (l *Live) remove(gone *row) {
	for i, r := range l.running {
		if r == gone {
			l.running = append(l.running[:i], l.running[i+1:]...)
			return
		}
	}
}

// note keeps the end of the output.
func (r *row) note(p []byte) {
	if r == nil {
		return
	}
	if len(p) > lastLine {
		p = p[len(p)-lastLine:]
	}
	r.last = append(r.last, p...)
	if over := len(r.last) - lastLine; over > 0 {
		r.last = append(r.last[:0], r.last[over:]...)
	}
}

// line returns the last line of the output that is not blank.
func (r *row) line() string {
	if r.far {
		return "on a worker"
	}
	lines := strings.FieldsFunc(plain(strings.ToValidUTF8(string(r.last), "�")), func(c rune) bool { return c == '\n' || c == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(report.PrintableLine(lines[i])); text != "" {
			return text
		}
	}
	return ""
}

// draw shows the block until the run ends.
func (l *Live) draw() {
	defer close(l.stopped)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			l.Screen.Clear()
			return
		case now := <-tick.C:
			l.Screen.Show(l.Block(now))
		}
	}
}

// end removes the block and stops its redraws.
func (l *Live) end() {
	if l.stop != nil {
		close(l.stop)
		<-l.stopped
		l.stop = nil
	}
}

// Block returns the lines of the block as they are at a time.
func (l *Live) Block(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rest != nil {
		return l.rest()
	}
	shown := l.running[:min(len(l.running), maxRows)]
	width := 0
	for _, r := range shown {
		width = max(width, min(Width(r.name), 32))
	}
	lines := make([]string, 0, len(shown)+2)
	for _, r := range shown {
		name := Cut(report.PrintableLine(r.name), 32)
		name += strings.Repeat(" ", max(0, width-Width(name)))
		lines = append(lines, fmt.Sprintf("  %s %6s  %s", l.Style.Name(r.name, name), elapsed(now.Sub(r.since)), l.Style.Dim(r.line())))
	}
	if more := len(l.running) - len(shown); more > 0 {
		lines = append(lines, l.Style.Dim(fmt.Sprintf("  and %d more", more)))
	}
	return append(lines, l.totals(now))
}

// totals returns the last line of the block. The counts come first, as a narrow terminal cuts the end.
func (l *Live) totals(now time.Time) string {
	parts := []string{fmt.Sprintf("%d/%d", l.ended, l.total), fmt.Sprintf("%d running", len(l.running))}
	for _, o := range []struct {
		outcome run.Outcome
		word    string
	}{{run.CacheHit, "hits"}, {run.Built, "built"}, {run.Failed, "failed"}} {
		if n := l.counts[o.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o.word))
		}
	}
	if left := l.remaining(now); left > 0 {
		parts = append(parts, "about "+elapsed(left)+" left")
	}
	return "  " + l.Style.Bold(strings.Join(parts, "  "))
}

// remaining returns the expected time until the end, from the durations of the last runs: the sum divided by the
// number of workers, but never less than the remaining time of one task.
func (l *Live) remaining(now time.Time) time.Duration {
	left, longest := l.left, time.Duration(0)
	for t, r := range l.rows {
		if t.Index < len(l.estimate) {
			done := min(now.Sub(r.since), l.estimate[t.Index])
			left -= done
			longest = max(longest, l.estimate[t.Index]-done)
		}
	}
	return max(left/time.Duration(max(1, l.workers)), longest).Round(time.Second)
}

// elapsed returns a duration in whole seconds as text.
func elapsed(d time.Duration) string {
	switch s := int(max(0, d).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
}
