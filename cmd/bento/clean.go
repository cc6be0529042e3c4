package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

func cleanCommand(s *session) *cobra.Command {
	var yes, dry bool
	var sel selection
	cmd := &cobra.Command{
		Use: "clean [TARGET…]", GroupID: "setup",
		Short:   "Remove the outputs of tasks, and nothing else",
		Long:    "Remove the files that runs of the selected dishes' tasks have made and that match\ntheir outputs. Files that git tracks, installed dependencies and files that no\nrecorded run has made stay. The cache keeps the results: bento build restores them.",
		Example: "  bento clean --dry-run\n  bento clean api --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.clean(cmd.Context(), sel, yes, dry)
		},
	}
	addDishes(cmd, &sel)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the files that would be removed")
	return cmd
}

func (s *session) clean(ctx context.Context, sel selection, yes, dry bool) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.everyTask(ctx, w, sel)
	if err != nil {
		return err
	}
	if w.Tree.Unsure() {
		return notFound("git_unreadable", "bento cannot read which files git tracks, so it removes nothing", "run git status, which reports the cause")
	}
	r := record.Recorder{Root: w.Root, Tree: w.Tree, Warn: func(string, string, string) {}}
	if !dry {
		unlock, err := w.env.State.Lock(ctx, state.RunLock, func(holder string) {
			s.warn("waiting", "another bento runs in this workspace; waiting for it", holder)
		})
		if err != nil {
			return err
		}
		defer unlock()
		r.Recover(ctx, w.env.State) // it records the outputs of a killed run
	}
	found, err := r.Cleanable(ctx, w.env.State, p)
	if err != nil {
		return err
	}
	doc := report.Cleaned{Schema: report.Schema("clean"), DryRun: dry, Paths: found.Paths, Kept: found.Tracked, Left: found.Others, Files: found.Files, Bytes: found.Bytes}
	if !dry && len(found.Paths) > 0 {
		if !yes {
			yes, err = s.confirm(ctx, "bento clean", fmt.Sprintf("remove %s, %s?", report.Count(found.Files, "file"), report.ByteSize(found.Bytes)))
			if err != nil {
				return err
			}
		}
		if !yes {
			doc.Paths, doc.Files, doc.Bytes = []string{}, 0, 0
			return s.nothingRemoved(doc)
		}
		if err := remove(ctx, &r, found); err != nil {
			return err
		}
	}
	return show(s, doc, report.WriteCleaned)
}

// remove removes what was found.
func remove(ctx context.Context, r *record.Recorder, found *record.Cleanable) error {
	stuck, err := r.Clean(ctx, found)
	if stuck > 0 {
		return fmt.Errorf("%s cannot be removed; the first: %w", report.Count(stuck, "path"), err)
	}
	return err
}

// nothingRemoved reports that the user has declined. doc is the document for --json.
func (s *session) nothingRemoved(doc any) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	_, err := io.WriteString(s.out, "nothing removed\n")
	return err
}
