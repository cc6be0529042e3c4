package report

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/run"
)

// Events reports a running build to programs: one JSON object a line, each written at once.
// Programs skip types and fields that they do not know.
type Events struct {
	W io.Writer
	// Now returns the time of an event; nil means time.Now.
	Now func() time.Time

	seq int64
	err error
}

// event is one line. A line has only the fields of its type.
type event struct {
	Schema string    `json:"schema"`
	Seq    int64     `json:"seq"` // from 1, without gaps
	Time   time.Time `json:"time"`
	Type   string    `json:"type"`

	Workspace string   `json:"workspace,omitempty"`
	Workers   int      `json:"workers,omitempty"`
	Tasks     []string `json:"tasks,omitempty"` // ids, each after its dependencies

	Task    string      `json:"task,omitempty"` // "dish:task"
	Dish    string      `json:"dish,omitempty"`
	Command string      `json:"command,omitempty"`
	Place   string      `json:"place,omitempty"`  // remote: a worker of remote.exec executes it
	Stream  string      `json:"stream,omitempty"` // stdout, stderr
	Text    *string     `json:"text,omitempty"`   // a piece of output, as it came
	Level   string      `json:"level,omitempty"`
	Result  *runTask    `json:"result,omitempty"`
	Install *installed  `json:"install,omitempty"`
	Warning *Problem    `json:"warning,omitempty"`
	Summary *runSummary `json:"summary,omitempty"`
	Stopped bool        `json:"interrupted,omitempty"`
}

// Event is one line of the stream.
type Event = event

// Report writes one event, or one event for each of several warnings.
func (e *Events) Report(ev run.Event) {
	if w, ok := ev.(run.Warned); ok {
		rows := ProblemsOf(w.Diagnostics)
		for i := range rows {
			e.write(event{Type: "warning", Warning: &rows[i]})
		}
		return
	}
	if line, ok := eventOf(ev); ok {
		e.write(line)
	}
}

func (e *Events) write(line event) {
	e.seq++
	now := e.Now
	if now == nil {
		now = time.Now
	}
	line.Schema, line.Seq, line.Time = Schema("event"), e.seq, now().UTC()
	enc := json.NewEncoder(e.W)
	enc.SetEscapeHTML(false)
	// If the reader of the events is gone, the run continues.
	if err := enc.Encode(line); err != nil && e.err == nil && !errors.Is(err, syscall.EPIPE) {
		e.err = err
	}
}

// Err returns the first error of a write, nil if all events were written.
func (e *Events) Err() error { return e.err }

// eventOf returns the line of an event; ok is false for an event without a line.
func eventOf(ev run.Event) (line event, ok bool) {
	switch ev := ev.(type) {
	case run.Started:
		ids := make([]string, len(ev.Plan.Tasks))
		for i, t := range ev.Plan.Tasks {
			ids[i] = t.ID()
		}
		return event{Type: "run_started", Workspace: ev.Plan.Workspace.Root, Workers: ev.Workers, Tasks: ids}, true
	case run.InstallStarted:
		return event{Type: "install_started", Dish: ev.Install.Dish, Command: ev.Install.Command}, true
	case run.InstallLog:
		return event{Type: "install_log", Dish: ev.Install.Dish, Stream: ev.Log.Stream, Level: ev.Log.Level, Text: textOf([]byte(ev.Log.Message))}, true
	case run.InstallFinished:
		return event{Type: "install_finished", Dish: ev.Install.Dish, Install: newInstalled(ev.Install)}, true
	case run.TaskStarted:
		line := event{Type: "task_started", Task: ev.Task.ID(), Dish: ev.Task.Dish.Name, Command: ev.Task.Command()}
		if ev.Far {
			line.Place = run.PlaceRemote
		}
		return line, true
	case run.TaskOutput:
		return event{Type: "task_output", Task: ev.Task.ID(), Stream: streamName(ev.Stream), Text: textOf(ev.Data)}, true
	case run.TaskFinished:
		row := newRunTask(ev.Result)
		return event{Type: "task_finished", Task: ev.Result.Task.ID(), Dish: ev.Result.Task.Dish.Name, Result: &row}, true
	case run.Finished:
		sum := summarize(ev.Report)
		return event{Type: "run_finished", Summary: &sum, Stopped: ev.Report.Interrupted}, true
	}
	return event{}, false
}

func textOf(p []byte) *string {
	text := strings.ToValidUTF8(string(p), "�")
	return &text
}

func streamName(s action.Stream) string {
	if s == action.Stderr {
		return "stderr"
	}
	return "stdout"
}
