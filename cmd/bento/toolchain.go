package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

func toolchainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "toolchain", GroupID: "setup",
		Short: "Compare the installed tools with the versions that dishes require",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list [TARGET…]", Short: "List each dish's tools with the required and the found version",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento toolchain list\n  bento toolchain list api --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.toolchain(cmd.Context(), "toolchain.list", args)
		},
	}, &cobra.Command{
		Use: "check [TARGET…]", Short: "The same; exit code 2 if a tool is missing or has a wrong version",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento toolchain check",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.toolchain(cmd.Context(), "toolchain.check", args)
		},
	}, toolchainPinCommand(s))
	return cmd
}

// toolchain lists tools. toolchain check ends with exitInput if a tool is missing or has a
// wrong version.
func (s *session) toolchain(ctx context.Context, command string, targets []string) error {
	w, dishes, err := s.selected(ctx, targets)
	if err != nil {
		return err
	}
	defer w.close()
	doc := report.Toolchains{Schema: report.Schema(command), Entries: []key.ToolStatus{}}
	for _, d := range dishes {
		doc.Entries = append(doc.Entries, w.env.Toolchains.Compare(ctx, w.Root, d)...)
	}
	_ = w.env.Toolchains.Save() // after a failure, the next run runs the tools again
	for _, r := range doc.Entries {
		if r.Unmet() {
			doc.Unmet++
		}
	}
	if doc.Unmet > 0 && command == "toolchain.check" {
		s.outcome = exitInput
	}
	return show(s, doc, report.WriteToolchains)
}

// selected opens the workspace and returns the dishes of targets. It prints problems, and returns an error
// if they leave no dishes.
func (s *session) selected(ctx context.Context, targets []string) (*opened, []*dish.Dish, error) {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return nil, nil, err
	}
	if len(targets) == 0 {
		report.WriteProblems(s.err, s.style, w.Problems)
		return w, w.Dishes, nil
	}
	p, _, problems, err := s.build(ctx, w, selection{Request: plan.Request{Targets: targets}})
	problems = diagnostics.Sorted(append(w.Problems, problems...))
	if p == nil && err == nil {
		err = diagnostics.AsError(problems)
	}
	if err != nil {
		w.close()
		return nil, nil, err
	}
	report.WriteProblems(s.err, s.style, problems)
	return w, p.Dishes, nil
}

// runtimes returns the names of the pinnable tools of dishes.
func (w *opened) runtimes() []string {
	var names []string
	for _, d := range w.Dishes {
		if d.Adapter != nil {
			names = append(names, d.Adapter.Manifest().RuntimeName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
