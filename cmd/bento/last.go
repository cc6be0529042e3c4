package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// The workspace's state has the document of the last run that executed a task.
const (
	lastFile    = "last-run"
	lastVersion = 1
)

func lastCommand(s *session) *cobra.Command {
	var findings bool
	cmd := &cobra.Command{
		Use: "last [DISH:TASK]", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Summarise the last run, or print the log of one of its tasks",
		Long:        "Summarise the last run that executed tasks: the slowest tasks, the critical path,\nthe failures. With DISH:TASK, print the log of that task; with --findings, what the\ntools have found.",
		Example:     "  bento last\n  bento last api:test\n  bento last --findings --json",
		Args:        atMost(1, "bento last takes one DISH:TASK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := s.loadLast()
			if err != nil {
				return err
			}
			switch {
			case len(args) == 1 && findings:
				return usageError("bento last takes DISH:TASK or --findings, not both", "")
			case findings:
				return show(s, report.NewFindings(doc), report.WriteAllFindings)
			case len(args) == 1:
				return s.printLog(cmd.Context(), doc, args[0])
			case s.flags.json:
				return report.Write(s.out, doc)
			}
			report.WriteLast(s.out, s.style, doc, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&findings, "findings", false, "print what the tools have found, and nothing else")
	return cmd
}

// keepLast stores the document of a run that executed a task. It does not store a run of cache hits: the
// summary of the run before is more useful.
func keepLast(st *state.Dir, r *run.Report, doc func() *report.Run) error {
	if r.Idle() {
		return nil
	}
	data, err := json.Marshal(doc())
	if err != nil {
		return err
	}
	return st.Store(lastFile, lastVersion, data)
}

func (s *session) loadLast() (*report.Run, error) {
	root, _, err := s.root()
	if err != nil {
		return nil, err
	}
	data, err := state.Open(root).Load(lastFile, lastVersion)
	var refused *state.RefusedError
	if errors.As(err, &refused) {
		return nil, err
	}
	if err != nil {
		return nil, notFound("no_run", "no run is recorded in "+root, "run bento run build")
	}
	doc := new(report.Run)
	dec := json.NewDecoder(bytes.NewReader(data))
	return doc, dec.Decode(doc)
}

// printLog prints the log of a task of the last run.
func (s *session) printLog(ctx context.Context, doc *report.Run, id string) error {
	path, ids, ok := doc.LogOf(id)
	if !ok {
		return notFound("unknown_task", "the last run had no task \""+id+"\"", diagnostics.Suggest(id, ids))
	}
	if path == "" {
		return notFound("no_log", id+" has no log of the last run: it was not executed, or printed nothing", "run bento run "+id+" --output full, which replays the log of a cache hit")
	}
	root, _, err := s.root()
	if err != nil {
		return err
	}
	// The path comes from a file. Base keeps that file from choosing another directory.
	f, err := state.Open(root).OpenFile(action.LogDir + "/" + filepath.Base(path))
	if errors.Is(err, os.ErrNotExist) {
		return notFound("no_log", "the log of "+id+" is missing: "+path, "")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if !s.terminal {
		_, err = io.Copy(s.out, heeding(ctx, f))
		return err
	}
	safe := &terminal.Safe{W: s.out}
	_, err = io.Copy(safe, heeding(ctx, f))
	return errors.Join(err, safe.Close())
}
