package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/state"
)

// followPause is the interval at which bento logs -f checks a log for new output.
const followPause = 100 * time.Millisecond

func logsCommand(s *session) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "logs DISH:TASK", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Print the last log of a task",
		Long:        "Print the log of the last time that a task was executed here. With --follow, also\nprint what the task goes on to print, and the logs of its later executions, until\nCtrl-C.",
		Example:     "  bento logs api:test\n  bento logs web:dev -f",
		Args:        exactly(1, "bento logs requires one DISH:TASK; bento tasks lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.logs(cmd.Context(), args[0], follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait for more, until Ctrl-C")
	return cmd
}

// lastLog is the document of `bento logs`.
type lastLog struct {
	Schema string `json:"schema"`
	Task   string `json:"task"`
	Path   string `json:"path,omitempty"` // of the log, absolute
	Text   string `json:"text,omitempty"` // the start of a log that only the cache has
}

func (s *session) logs(ctx context.Context, id string, follow bool) error {
	if follow && s.flags.json {
		return usageError("bento logs --follow does not end, so it has no --json document", "leave out --follow")
	}
	name, ran, err := s.logOf(ctx, id)
	if err != nil {
		return err
	}
	root, _, err := s.root()
	if err != nil {
		return err
	}
	dir := state.Open(root)
	name = action.LogDir + "/" + name
	f, err := dir.OpenFile(name)
	if err != nil && (!errors.Is(err, os.ErrNotExist) || !follow) {
		switch {
		case errors.Is(err, os.ErrNotExist) && ran:
			return s.noOutput(id)
		case errors.Is(err, os.ErrNotExist):
			err = notFound("no_log", id+" has no log: it was not executed here", "run bento run "+id+" --output full, which also replays the log of a cache hit")
		}
		return err
	}
	if s.flags.json {
		return errors.Join(f.Close(), report.Write(s.out, lastLog{Schema: report.Schema("logs"), Task: id, Path: dir.Shown(name)}))
	}
	out, done := s.logWriter()
	if err == nil {
		_, err = io.Copy(out, heeding(ctx, f))
	} else {
		err = nil // -f waits for the log
	}
	if follow && err == nil {
		f, err = followLog(ctx, out, f, func() (*os.File, error) { return dir.OpenFile(name) })
	}
	if f != nil {
		f.Close()
	}
	return errors.Join(err, done())
}

// logWriter returns a writer for the text of a log, which steers no terminal, and the function
// that ends it.
func (s *session) logWriter() (io.Writer, func() error) {
	if !s.terminal {
		return s.out, func() error { return nil }
	}
	safe := &terminal.Safe{W: s.out}
	return safe, safe.Close
}

// followLog copies appended output of f, and then the files that replace it, until ctx is done. f is nil for a
// missing file. followLog returns the file that is open at the end.
func followLog(ctx context.Context, out io.Writer, f *os.File, open func() (*os.File, error)) (*os.File, error) {
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-tick.C:
		}
		next, err := open()
		if err != nil { // the next execution has printed nothing yet
			next = nil
		}
		if f != nil { // includes the rest of a log that was replaced
			if _, err := io.Copy(out, heeding(ctx, f)); err != nil {
				return f, errors.Join(err, closed(next))
			}
		}
		if next == nil || sameFile(f, next) {
			_ = closed(next)
			continue
		}
		_ = closed(f)
		f = next
	}
}

func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func sameFile(x, y *os.File) bool {
	if x == nil {
		return false
	}
	one, err := x.Stat()
	two, err2 := y.Stat()
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// logOf returns the file name of the log of a task. It looks in the document of the last run first, which does
// not need a valid configuration. It reports whether the task was executed here.
func (s *session) logOf(ctx context.Context, id string) (name string, ran bool, err error) {
	docs, _ := s.lastRuns() // the task may have run before them
	for _, doc := range docs {
		switch row, _ := doc.Ran(id); {
		case row.Log != "":
			return filepath.Base(row.Log), true, nil // the path comes from a file, which must not choose another directory
		case row.Outcome == "built":
			ran = true
		}
	}
	if !strings.Contains(id, ":") {
		return "", ran, usageError("bento logs requires DISH:TASK, found "+id, "bento tasks lists the tasks")
	}
	t, known, err := s.taskCalled(ctx, id)
	if err != nil {
		return "", ran, err
	}
	return action.LogName(t.Dish.Name, t.Name, t.Place()), ran || known, nil
}
