package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

func queryCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "query", GroupID: "ask",
		Short: "Ask what depends on a dish or task, and whose a path or a tag is",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	owners := ownersCommand(s)
	owners.GroupID, owners.Example = "", "  bento query owners services/api"
	cmd.AddCommand(owners, &cobra.Command{
		Use: "tags", Short: "List the tags and their dishes",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento query tags\n  bento query tags --json",
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.queryTags(cmd.Context()) },
	}, &cobra.Command{
		Use: "dependents TARGET|DISH:TASK", Short: "List what depends on a dish or a task",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "List the dishes that depend on those of TARGET, or the tasks that depend on a task,\nthe nearest first. The distance is 1 for what depends on it directly.",
		Example:     "  bento query dependents lib\n  bento query dependents lib:build --json",
		Args:        exactly(1, "bento query dependents requires one TARGET or DISH:TASK"),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.queryRelated(cmd.Context(), args[0], true) },
	}, &cobra.Command{
		Use: "dependencies TARGET|DISH:TASK", Short: "List what a dish or a task depends on",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "List the dishes that those of TARGET depend on, or the tasks that a task depends on,\nthe nearest first. The distance is 1 for a direct dependency.",
		Example:     "  bento query dependencies app\n  bento query dependencies app:test --json",
		Args:        exactly(1, "bento query dependencies requires one TARGET or DISH:TASK"),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.queryRelated(cmd.Context(), args[0], false) },
	}, &cobra.Command{
		Use: "paths PATH…", Short: "List the dishes that have paths",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "List, for each PATH, the innermost dish around it, with the further dishes of the same\ndirectory. A PATH may be missing, as that of a removed file.",
		Example:     "  bento query paths api/main.go\n  git diff --name-only | xargs bento query paths --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("bento query paths requires paths", "")
			}
			return s.queryPaths(cmd.Context(), args)
		},
	})
	return cmd
}

// queryRelated prints the dependents or the dependencies of dishes or of a task.
func (s *session) queryRelated(ctx context.Context, name string, dependents bool) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	whole, err := s.plan(ctx, w, selection{Request: plan.Request{AllTasks: true}})
	if err != nil {
		return err
	}
	isDish := slices.ContainsFunc(w.Dishes, func(d *dish.Dish) bool { return d.Name == name })
	_, _, isTask := splitTask(name)
	req := plan.Request{Targets: []string{name}}
	if isTask = isTask && !isDish && !strings.HasPrefix(plan.Center(name), "tag:"); isTask {
		req = plan.Request{Tasks: []string{name}, IDs: true}
	}
	p, _, problems, err := s.build(ctx, w, selection{Request: req})
	if err == nil && p == nil {
		err = diagnostics.AsError(problems)
	}
	if err != nil {
		return err
	}
	if !isTask {
		return show(s, report.NewRelatedDishes(whole, p.Dishes, dependents), report.WriteRelated)
	}
	task, err := onlyRequested(p, name)
	if err != nil {
		return err
	}
	return show(s, report.NewRelatedTasks(whole, task.ID(), dependents), report.WriteRelated)
}

// queryPaths prints the dishes that have paths.
func (s *session) queryPaths(ctx context.Context, paths []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	doc := report.PathOwners{Schema: report.Schema("query.paths"), Entries: []report.PathOwner{}}
	for _, path := range paths {
		rel, err := w.inside(path)
		if err != nil {
			return err
		}
		doc.Entries = append(doc.Entries, report.NewPathOwner(w.Workspace.Workspace, rel))
	}
	return show(s, doc, report.WritePathOwners)
}

// inside returns a path of the command line, which may be missing, relative to the workspace.
func (w *opened) inside(path string) (string, error) {
	abs := path
	if !filepath.IsAbs(path) {
		abs = filepath.Join(w.Root, filepath.FromSlash(w.dir), path)
	}
	rel, inside := w.Relative(abs)
	if !inside {
		return "", notFound("target_not_found", path+" lies outside of the workspace "+w.Root, "use -C for another workspace")
	}
	return rel, nil
}

// queryTags prints the tags with their dishes.
func (s *session) queryTags(ctx context.Context) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	return show(s, report.NewTagList(w.Dishes), report.WriteTagList)
}
