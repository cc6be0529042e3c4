// Package feed stores what the runs of a workspace do, as they do it, in the state of the workspace: a file for each run
// that executes or restores something, which other processes follow. The file stays until the next run of the same process,
// or the end of the process.
package feed

import (
	"encoding/json"
	"time"

	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// dir is the directory of the files in the state.
const dir = "feeds"

// line is one line of a file, in JSON. It has one of its members.
type line struct {
	Run  *head `json:"run,omitempty"` // the first line
	Row  *Row  `json:"row,omitempty"` // a task or an install has begun or ended
	Pass *pass `json:"pass,omitempty"`
	End  *end  `json:"end,omitempty"` // the last line
}

type head struct {
	Command string    `json:"command"`
	Started time.Time `json:"started"`
	Tasks   int       `json:"tasks"`
}

// pass counts the tasks so far that have no row.
type pass struct {
	Hits    int `json:"hits,omitempty"` // whose outputs are in place
	Skipped int `json:"skipped,omitempty"`
}

type end struct {
	DurationMS  int64 `json:"duration_ms"`
	Interrupted bool  `json:"interrupted,omitempty"`
}

// Running is the outcome of a row whose task or install has not ended.
const Running = "running"

// Row is the state of a task or of an install in a run.
type Row struct {
	ID         string `json:"id"`      // "dish:task", or the id of an install
	Outcome    string `json:"outcome"` // Running, a run.Outcome, or "installed"
	StartMS    int64  `json:"start_ms"`
	DurationMS int64  `json:"duration_ms"`
	Message    string `json:"message,omitempty"` // of a failure, shortened
}

// maxMessage bounds a message, in bytes.
const maxMessage = 1 << 10

// Lines about restored tasks are written together: after writeTime, or when they have writeSize bytes.
const (
	writeTime = 20 * time.Millisecond
	writeSize = 32 << 10
)

// Writer is a run.Reporter that writes the files of the runs that it hears of, one after the other. It ignores errors: a
// run does not depend on those who watch it. The zero value writes nothing until In. The caller calls Close at the end.
type Writer struct {
	state *state.Dir
	line  string

	begun   run.Started
	file    *state.Claimed // nil before the first row
	broken  bool           // the file could not be written
	pass    pass
	noted   pass // the last one that was written
	buf     []byte
	written time.Time
}

// In makes the state of a workspace the place of the files, and command the command line of the runs.
func (w *Writer) In(st *state.Dir, command string) { w.state, w.line = st, command }

// Report writes an event, unless it belongs to a run that has done nothing yet.
func (w *Writer) Report(ev run.Event) {
	switch ev := ev.(type) {
	case run.Started:
		w.Close()
		w.begun = ev
	case run.TaskStarted:
		w.row(Row{ID: ev.Task.ID(), Outcome: Running, StartMS: w.since(time.Now())}, true)
	case run.InstallStarted:
		w.row(Row{ID: ev.Install.ID(), Outcome: Running, StartMS: w.since(time.Now())}, true)
	case run.InstallFinished:
		row := Row{ID: ev.Install.ID(), Outcome: "installed", StartMS: w.since(ev.Install.Started), DurationMS: ev.Install.Duration.Milliseconds()}
		if ev.Install.Err != nil {
			row.Outcome, row.Message = string(run.Failed), shortened(ev.Install.Err.Error())
		}
		w.row(row, true)
	case run.TaskFinished:
		w.finished(ev.Result)
	case run.Finished:
		if w.file != nil {
			w.flush()
			w.add(line{End: &end{ev.Report.Duration.Milliseconds(), ev.Report.Interrupted}})
			w.flush()
		}
	}
}

func (w *Writer) finished(r *run.Result) {
	switch {
	case r.Outcome == run.Skipped:
		w.pass.Skipped++
	case r.Outcome == run.CacheHit && r.Started.IsZero():
		w.pass.Hits++
	default:
		at := r.Started
		if at.IsZero() {
			at = time.Now()
		}
		row := Row{ID: r.Task.ID(), Outcome: string(r.Outcome), StartMS: w.since(at), DurationMS: r.Duration.Milliseconds()}
		if r.Outcome == run.Failed {
			row.Message = shortened(r.Message)
		}
		w.row(row, r.Outcome.Executed())
	}
}

func (w *Writer) since(t time.Time) int64 { return max(0, t.Sub(w.begun.At).Milliseconds()) }

func shortened(s string) string { return s[:min(len(s), maxMessage)] }

// row writes a row, at once if now is set. The first one makes the file, and removes those of processes that have died.
func (w *Writer) row(r Row, now bool) {
	if w.broken || w.state == nil || w.begun.Plan == nil {
		return
	}
	if w.file == nil {
		for _, old := range w.state.Abandoned(dir) {
			_ = old.Remove()
		}
		file, err := w.state.Claim(dir)
		if err != nil {
			w.broken = true
			return
		}
		w.file = file
		w.add(line{Run: &head{w.line, w.begun.At, len(w.begun.Plan.Tasks)}})
	}
	w.add(line{Row: &r})
	if now || len(w.buf) >= writeSize || time.Since(w.written) >= writeTime {
		w.flush()
	}
}

func (w *Writer) add(l line) {
	data, err := json.Marshal(l)
	if err == nil {
		w.buf = append(append(w.buf, data...), '\n')
	}
}

func (w *Writer) flush() {
	if w.broken {
		return
	}
	if w.pass != w.noted {
		w.noted = w.pass
		w.add(line{Pass: &w.noted})
	}
	if _, err := w.file.Write(w.buf); err != nil {
		w.broken = true
	}
	w.buf, w.written = w.buf[:0], time.Now()
}

// Close removes the file of a run.
func (w *Writer) Close() {
	if w.file != nil {
		_ = w.file.Remove() // the next run removes it
	}
	w.file, w.broken, w.pass, w.noted, w.begun = nil, false, pass{}, pass{}, run.Started{}
}
