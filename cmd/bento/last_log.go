package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

// printLog prints the log of a task of the last runs: of the first of docs that has the task.
func (s *session) printLog(ctx context.Context, docs []*report.Run, id string) error {
	row, id, err := s.lastOf(ctx, docs, id)
	if err != nil {
		return err
	}
	switch {
	case row.Log != "":
		return s.printLogFile(ctx, id, row.Log)
	case row.Outcome == "cache_hit":
		return s.printCachedLog(ctx, id, row.Key)
	case row.Outcome == "skipped":
		return notFound("no_log", id+" has no log of the last run: it was skipped", "bento logs "+id+" prints its last log")
	}
	return s.noOutput(id)
}

// noOutput reports that a task was executed and printed nothing.
func (s *session) noOutput(id string) error {
	if s.flags.json {
		return report.Write(s.out, lastLog{Schema: report.Schema("logs"), Task: id})
	}
	_, err := io.WriteString(s.err, "bento: "+report.PrintableLine(id)+" printed nothing\n")
	return err
}

// lastOf finds a task of the last runs by its id, or by an alias in place of its name.
func (s *session) lastOf(ctx context.Context, docs []*report.Run, id string) (report.Ran, string, error) {
	find := func(id string) (report.Ran, bool) {
		for _, doc := range docs {
			if row, ok := doc.Ran(id); ok {
				return row, true
			}
		}
		return report.Ran{}, false
	}
	row, ok := find(id)
	if !ok && strings.Contains(id, ":") {
		if of, _, err := s.taskCalled(ctx, id); err == nil {
			row, ok = find(of.ID())
			id = of.ID()
		}
	}
	if !ok {
		return row, id, notFound("unknown_task", "the last run had no task \""+id+"\"", diagnostics.Suggest(id, docs[len(docs)-1].IDs()))
	}
	return row, id, nil
}

// taskCalled returns the task of the workspace that has an id, which may have an alias in place of the name. It reports
// whether the task was executed here.
func (s *session) taskCalled(ctx context.Context, id string) (t *plan.Task, ran bool, err error) {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return nil, false, err
	}
	defer w.close()
	p, err := s.plan(ctx, w, selection{Request: plan.Request{Tasks: []string{id}, IDs: true}})
	if err != nil {
		return nil, false, err
	}
	t, err = onlyRequested(p, id)
	return t, err == nil && key.OpenHistory(w.env.State).Of(t).At != 0, err
}

// printLogFile prints a log of the workspace. Its path comes from a file. Base keeps that file from choosing another
// directory.
func (s *session) printLogFile(ctx context.Context, id, path string) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	dir, name := state.Open(root), action.LogDir+"/"+filepath.Base(path)
	f, err := dir.OpenFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return notFound("no_log", "the log of "+id+" is missing: "+path, "")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if s.flags.json {
		return report.Write(s.out, lastLog{Schema: report.Schema("logs"), Task: id, Path: dir.Shown(name)})
	}
	out, done := s.logWriter()
	_, err = io.Copy(out, heeding(ctx, f))
	return errors.Join(err, done())
}

// mostLogText is the maximal size in bytes of a log in a document.
const mostLogText = 64 << 10

// printCachedLog prints the log of a result in the cache.
func (s *session) printCachedLog(ctx context.Context, id, hex string) error {
	disk, err := s.disk(nil)
	if err != nil {
		return err
	}
	k, err := cache.ParseKey(hex)
	if err != nil {
		return notFound("no_log", "the last run has no key of "+id, "")
	}
	record, err := disk.Lookup(k)
	switch {
	case err != nil:
		return notFound("no_log", "the cache no longer has the result of "+id, "run bento run "+id)
	case record.Log == (cache.Digest{}):
		return s.noOutput(id)
	}
	out, done := s.logWriter()
	var text strings.Builder
	if s.flags.json {
		out = &text
	}
	var failed error
	err = action.ReplayLog(record.With(disk), record.Log, func(_ action.Stream, p []byte) {
		if failed == nil && ctx.Err() == nil && text.Len() < mostLogText {
			_, failed = out.Write(p)
		}
	})
	if err = errors.Join(err, failed, ctx.Err()); s.flags.json && err == nil {
		return report.Write(s.out, lastLog{Schema: report.Schema("logs"), Task: id, Text: strings.ToValidUTF8(text.String()[:min(text.Len(), mostLogText)], "�")})
	}
	return errors.Join(err, done())
}
