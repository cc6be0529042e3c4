package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// span measures a part of the invocation for --profile, until the function that it
// gives is called.
func (s *session) span(name string) (end func()) {
	start := time.Now()
	return func() {
		s.spans = append(s.spans, export.Span{Name: name, Start: start, Duration: time.Since(start)})
	}
}

// checkFiles finds out before anything runs that what is asked for cannot be written.
func (s *session) checkFiles() error {
	if s.flags.json && s.flags.events == "-" {
		return usageError("--json and --events - both want stdout", "give --events the name of a file")
	}
	for flag, names := range map[string][]string{"report-file": s.flags.reportFiles, "profile": {s.flags.profile}} {
		for _, name := range names {
			if name == "" {
				continue
			}
			if fi, err := os.Stat(filepath.Dir(name)); err != nil || !fi.IsDir() {
				return usageError(fmt.Sprintf("--%s %q: there is no directory %q", flag, name, filepath.Dir(name)), "make it, or name another file")
			}
			if err := writable(name); err != nil {
				return usageError(fmt.Sprintf("--%s %q cannot be written: %v", flag, name, err), "name another file")
			}
		}
	}
	return nil
}

// reporters tell the same run in several ways.
type reporters []run.Reporter

// Report tells each of them.
func (rs reporters) Report(ev run.Event) {
	for _, r := range rs {
		r.Report(ev)
	}
}

// telling is how a run is told, to people and to programs.
type telling struct {
	run.Reporter
	people terminal.Reporter
	output bool // run.TaskOutput is wanted
	close  func()
}

// newTelling opens what a run is to be told with.
func (s *session) newTelling(ctx context.Context) (*telling, error) {
	t := &telling{close: func() {}}
	var events io.Writer
	switch name := s.flags.events; name {
	case "":
	case "-":
		events = s.out
		s.out = s.err // people read what a program does not
	default:
		f, err := openNamed(ctx, name)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, usageError(fmt.Sprintf("--events %q cannot be written: %v", name, err), "name another file, or - for stdout")
		}
		events = f
	}
	told := &report.Events{W: events}
	if f, ok := events.(*os.File); ok {
		t.close = s.closing(told, f)
	}
	t.people = s.reporter()
	t.Reporter, t.output = t.people, t.people.Live()
	if events != nil {
		t.Reporter, t.output = reporters{told, t.people}, true
	}
	return t, nil
}

// closing gives what closes the events. That they are not all written counts in the
// exit code.
func (s *session) closing(told *report.Events, file io.Closer) func() {
	return func() {
		if err := errors.Join(told.Err(), file.Close()); err != nil {
			s.warn("report_unwritable", "not all events are written: "+err.Error(), "")
			s.outcome = max(s.outcome, exitFault)
		}
	}
}

// writeFiles writes what is asked for about a run that has ended.
func (s *session) writeFiles(ctx context.Context, r *run.Report, doc func() report.Run) {
	for _, name := range s.flags.reportFiles {
		s.writeFile(ctx, name, func(w io.Writer) error { return writeReport(w, name, r, doc) })
	}
	if name := s.flags.profile; name != "" {
		s.writeFile(ctx, name, func(w io.Writer) error { return export.Trace(w, r, s.spans) })
	}
	if !s.github() {
		return
	}
	export.Annotations(s.out, r)
	if name := s.environ.Get("GITHUB_STEP_SUMMARY"); name != "" {
		if f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o644); err == nil {
			_ = export.Summary(f, r)
			f.Close()
		}
	}
}

// writeReport writes a report in the format that the name of its file asks for.
func writeReport(w io.Writer, name string, r *run.Report, doc func() report.Run) error {
	switch ext := filepath.Ext(name); {
	case ext == ".xml":
		return export.JUnit(w, r)
	case ext == ".sarif" || strings.HasSuffix(name, ".sarif.json"):
		return export.SARIF(w, r, version())
	}
	return report.Write(w, doc())
}

// writeFile writes a file beside and renames it; one that cannot be written is told,
// and counts in the exit code.
func (s *session) writeFile(ctx context.Context, name string, write func(io.Writer) error) {
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = replaceFile(ctx, name, b.Bytes())
	}
	if err != nil {
		s.warn("report_unwritable", "the report cannot be written: "+err.Error(), "")
		s.outcome = max(s.outcome, exitFault)
		if ctx.Err() != nil {
			s.outcome = exitInterrupted // it may be what was in the way
		}
	}
}

// replaceFile writes a file beside and renames it. What is there and no file, a pipe, a
// device or a link such as /dev/stdout, is written to.
func replaceFile(ctx context.Context, name string, data []byte) error {
	if fi, err := os.Lstat(name); err == nil && !fi.Mode().IsRegular() {
		f, err := openNamed(ctx, name)
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	return state.WriteFile(name, data, 0o644)
}

// summarize writes down how a run ended, for whoever asked.
func (s *session) summarize(ctx context.Context, w *workspace, r *run.Report) error {
	s.outcome = exitOf(r)
	if !r.Idle() {
		w.keepNames()
	}
	if r.Stored() {
		defer keepBounds(ctx, w.env.Store) // after all else was reported
	}
	if s.outcome == exitOK && len(s.stopping(w)) < len(w.problems) {
		s.outcome = exitTask // --keep-going got around a dish
	}
	doc := sync.OnceValue(func() report.Run {
		doc := report.NewRun(r)
		doc.Schema, doc.Command = report.Schema(s.command), s.line
		doc.Warnings = append(doc.Warnings, w.problems...)
		return doc
	})
	s.writeFiles(ctx, r, doc)
	if err := keepLast(w.env.State, r, doc); err != nil {
		s.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(), "")
	}
	if s.flags.json {
		return report.Write(s.out, doc())
	}
	return nil
}

// github tells whether stdout is read by GitHub Actions.
func (s *session) github() bool {
	return s.environ.Get("GITHUB_ACTIONS") == "true" && !s.flags.json && s.flags.events != "-"
}
