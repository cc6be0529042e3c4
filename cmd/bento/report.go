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

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/feed"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// span measures a part of the invocation for --profile. The caller calls the returned
// function at the end of the part.
func (s *session) span(name string) (end func()) {
	start := time.Now()
	return func() {
		s.spans = append(s.spans, export.Span{Name: name, Start: start, Duration: time.Since(start)})
	}
}

// checkFiles returns an error before anything runs if a requested file cannot be written.
func (s *session) checkFiles() error {
	if s.flags.json && s.flags.events == "-" {
		return usageError("--json and --events - both write to stdout", "name a file for --events")
	}
	for flag, names := range map[string][]string{"report-file": s.flags.reportFiles, "profile": {s.flags.profile}} {
		for _, name := range names {
			if name == "" {
				continue
			}
			if fi, err := os.Stat(filepath.Dir(name)); err != nil || !fi.IsDir() {
				return usageError(fmt.Sprintf("--%s %q: the directory %q is missing", flag, name, filepath.Dir(name)), "make it, or name another file")
			}
			if err := writable(name); err != nil {
				return usageError(fmt.Sprintf("--%s %q cannot be written: %v", flag, name, err), "name another file")
			}
		}
	}
	return nil
}

// reporting has the reporters of runs, for people and for programs. It passes the events of several runs to them one
// at a time.
type reporting struct {
	mu     sync.Mutex
	events *report.Events // nil without --events
	people terminal.Reporter
	live   *terminal.Live // people if a terminal shows a block, else nil

	feed       feed.Writer
	line       string          // the command line, for the feed
	companions *kit.Companions // nil without extensions
	lost       map[string]bool // plugins whose failure was published
	output     bool            // a reporter needs run.TaskOutput events
	close      func()
}

// Report calls the reporters, and never waits for extensions.
func (t *reporting) Report(ev run.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.events != nil {
		t.events.Report(ev)
	}
	t.people.Report(ev)
	t.companions.Report(ev)
	t.feed.Report(ev)
}

// logsFrom makes the store of a workspace the one that has the logs of cache hits, and its state the place of feeds.
func (t *reporting) logsFrom(w *opened) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.people.Open(w.env.Store)
	t.feed.In(w.env.State, t.line)
}

// newReporting opens the reporters of a run.
func (s *session) newReporting(ctx context.Context) (*reporting, error) {
	t := &reporting{close: func() {}, line: s.line}
	switch name := s.flags.events; name {
	case "":
	case "-":
		t.events = &report.Events{W: s.out}
		s.out = s.err // stdout is for the program that reads the events
	default:
		f, err := openNamed(ctx, name)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, usageError(fmt.Sprintf("--events %q cannot be written: %v", name, err), "name another file, or - for stdout")
		}
		t.events = &report.Events{W: f}
		t.close = s.closing(t.events, f)
	}
	end := t.close
	t.close = func() {
		t.feed.Close()
		end()
	}
	t.people, t.live = s.reporter()
	t.output = t.people.Live() || t.events != nil
	return t, nil
}

// closing returns a function that closes the events. Events that could not be written change
// the exit code.
func (s *session) closing(events *report.Events, file io.Closer) func() {
	return func() {
		if err := errors.Join(events.Err(), file.Close()); err != nil {
			s.warn("report_unwritable", "some events could not be written: "+err.Error(), "")
			s.outcome = max(s.outcome, exitFault)
		}
	}
}

// writeFiles writes the requested files about a run that has ended.
func (s *session) writeFiles(ctx context.Context, r *run.Report, doc func() *report.Run) {
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

// writeReport writes a report in the format of its file name's extension.
func writeReport(w io.Writer, name string, r *run.Report, doc func() *report.Run) error {
	switch ext := filepath.Ext(name); {
	case ext == ".xml":
		return export.JUnit(w, r)
	case ext == ".sarif" || strings.HasSuffix(name, ".sarif.json"):
		return export.SARIF(w, r, version())
	}
	return report.Write(w, doc())
}

// writeFile writes a temporary file and renames it. A failure is a warning and changes the
// exit code.
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
			s.outcome = exitInterrupted // the interrupt may be the cause
		}
	}
}

// replaceFile writes a temporary file and renames it. It writes directly to an existing pipe,
// device or link such as /dev/stdout.
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

// draft returns the document of a run while its state is still being saved, and stores the names of the
// workspace. It returns nil for a run of cache hits.
func draft(w *opened, r *run.Report) *report.Run {
	if r.Idle() {
		return nil
	}
	w.keepNames()
	return report.NewRun(r)
}

// summarize writes the result of a run to the requested documents and files. early is its draft.
func (s *session) summarize(ctx context.Context, w *opened, r *run.Report, early *report.Run) error {
	s.outcome = exitOf(r)
	if !r.Idle() {
		defer settle(ctx, w, r)()
	}
	switch {
	case s.outcome != exitOK:
	case w.lacking():
		s.outcome = exitInput // --keep-going ran the others
	case len(s.stopping(w)) < len(w.Problems):
		s.outcome = exitTask // --keep-going skipped a dish
	}
	doc := sync.OnceValue(func() *report.Run {
		doc := early
		if doc == nil {
			doc = report.NewRun(r)
		}
		doc.End(r)
		doc.Schema, doc.Command = report.Schema(s.command), s.line
		doc.Warnings = append(doc.Warnings, report.ProblemsOf(w.Problems)...)
		return doc
	})
	s.writeFiles(ctx, r, doc)
	if err := keepLast(w.env.State, r, s.line, doc); err != nil {
		w.warnState("the state of this workspace cannot be written: "+err.Error(), "")
	}
	switch {
	case s.flags.json && s.brief:
		return report.WriteBrief(s.out, doc())
	case s.flags.json:
		return report.Write(s.out, doc())
	}
	return nil
}

// settle starts to evict results beyond the bounds of the cache and to store which records the run has used. It
// returns at once; wait waits for the end. It ignores errors: the next run tries again.
func settle(ctx context.Context, w *opened, r *run.Report) (wait func()) {
	disk := cache.DiskOf(w.env.Store)
	if disk == nil {
		return func() {}
	}
	var settled sync.WaitGroup
	settled.Go(func() {
		if r.Stored() {
			_ = disk.PruneToBounds(ctx)
		}
		disk.Settle()
	})
	return settled.Wait
}

// github reports whether GitHub Actions reads stdout.
func (s *session) github() bool {
	return s.environ.Get("GITHUB_ACTIONS") == "true" && !s.flags.json && s.flags.events != "-"
}
