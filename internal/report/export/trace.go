package export

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// Span is a part of an invocation that is no task: the walk, the plan.
type Span struct {
	Name     string
	Start    time.Time
	Duration time.Duration
}

// The rows of a trace. Tasks have separate rows, as many as ran at the same time.
const (
	rowBento = 0
	rowTasks = 1
)

// traceEvent is one event of Chrome's trace event format, which Perfetto reads
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Time  int64          `json:"ts"`            // µs since the start
	Dur   int64          `json:"dur,omitempty"` // µs
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// Trace writes a run as Chrome trace events: the work of bento itself on one row, and tasks, restores and installs
// on rows of workers. It flags the critical path.
func Trace(w io.Writer, r *run.Report, spans []Span) error {
	start := r.Started
	for _, s := range spans {
		if s.Start.Before(start) {
			start = s.Start
		}
	}
	var events []traceEvent
	at := func(t time.Time) int64 { return t.Sub(start).Microseconds() }
	for _, s := range append(slices.Clip(spans), Span{Name: "keys", Start: r.Started, Duration: r.Evaluated}) {
		events = append(events, traceEvent{Name: s.Name, Cat: "bento", Phase: "X", Time: at(s.Start), Dur: s.Duration.Microseconds(), TID: rowBento})
	}
	jobs := jobsOf(r)
	for i, row := range rows(jobs) {
		j := jobs[i]
		events = append(events, traceEvent{Name: j.name, Cat: j.kind, Phase: "X", Time: at(j.start), Dur: max(1, j.took.Microseconds()), TID: rowTasks + row, Args: j.args})
	}
	events = append(events, names(events)...)
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"})
}

// job is a task, restore or install that a worker did.
type job struct {
	name, kind string
	start      time.Time
	took       time.Duration
	args       map[string]any
}

// jobsOf lists the jobs of all workers, sorted by start.
func jobsOf(r *run.Report) []job {
	critical := r.CriticalPath()
	var jobs []job
	for _, res := range r.Results {
		if res.Started.IsZero() {
			continue
		}
		j := job{name: res.Task.ID(), kind: "task", start: res.Started, took: res.Duration, args: map[string]any{
			"outcome": string(res.Outcome), "exit_code": res.ExitCode, "key": res.Key.String(), "critical": slices.Contains(critical, run.Step{Result: res}),
		}}
		if res.Place != "" {
			j.args["place"], j.args["queued_ms"] = res.Place, res.Stay.Queued.Milliseconds()
		}
		if res.Outcome == run.CacheHit {
			j.kind, j.args["remote"] = "restore", res.Remote
		}
		jobs = append(jobs, j)
	}
	for _, i := range r.Installs {
		jobs = append(jobs, job{name: i.ID(), kind: "install", start: i.Started, took: i.Duration, args: map[string]any{"command": i.Command, "reason": i.Reason, "critical": slices.Contains(critical, run.Step{Install: i})}})
	}
	slices.SortStableFunc(jobs, func(x, y job) int { return x.start.Compare(y.start) })
	return jobs
}

// rows returns the row of each job: the first row that is free at the start of the job.
func rows(jobs []job) []int {
	return report.Rows(len(jobs), func(i int) (start, end int64) {
		start = jobs[i].start.UnixNano()
		return start, start + int64(jobs[i].took)
	})
}

// names returns the events that name the process and its rows.
func names(events []traceEvent) []traceEvent {
	last := rowBento
	for _, e := range events {
		last = max(last, e.TID)
	}
	list := []traceEvent{{Name: "process_name", Phase: "M", Args: map[string]any{"name": "bento"}}}
	for row := range last + 1 {
		name := "worker"
		if row == rowBento {
			name = "bento"
		}
		list = append(list, traceEvent{Name: "thread_name", Phase: "M", TID: row, Args: map[string]any{"name": name}})
	}
	return list
}
