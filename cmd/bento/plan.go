package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

func planCommand(s *session) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use: "plan [TARGET|TASK…] [-- ARGS…]", GroupID: "ask",
		Annotations: traits{Reads: true, Warns: true, Flags: []string{"no-cache"}}.annotations(),
		Short:       "List what would run, and why",
		Long:        "List what bento ci would run in every dish, or in those of TARGET (the name of a\ndish or a bento, a path, or a glob): hit or miss, and the reason. With TASK (a name,\ndish:task, or a glob), list what bento run would run; ./NAME is always a path. No\ntask runs.",
		Example:     "  bento plan\n  bento plan api --json\n  bento plan build test\n  bento plan 'web:*'",
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			sel.names = append([]string{}, args...)
			return s.printPlan(cmd.Context(), sel)
		},
	}
	addSelection(cmd, &sel)
	addForce(cmd, &sel)
	return cmd
}

// printPlan prints a plan. Errors of single dishes do not hide the others: they are reported
// with the plan, and in the exit code.
func (s *session) printPlan(ctx context.Context, sel selection) error {
	w, err := s.openFor(ctx, s.lines(), sel.all())
	if err != nil {
		return err
	}
	defer w.close()
	w.keepNames()
	p, clean, problems, err := s.build(ctx, w, sel)
	if err != nil {
		return err
	}
	problems = diagnostics.Sorted(append(w.Problems, problems...))
	if p == nil {
		return diagnostics.AsError(problems)
	}
	ev, err := w.env.Evaluator(p, s.flags.noCache || sel.force, nil)
	if err != nil {
		return err
	}
	results, err := key.DryRun(ctx, ev)
	if err != nil {
		return err
	}
	ev.Save(nil)
	found := ev.Preflight(ctx)
	problems = diagnostics.Sorted(slices.Concat(problems, found.Problems, w.WholeLocks()))
	if s.flags.verbose || s.flags.json {
		problems = diagnostics.Sorted(slices.Concat(problems, run.UnmatchedInputs(p, w.Tree)))
	}
	report.WriteProblems(s.err, s.style, slices.Concat(problems, found.Advice(p.Tasks)))
	if len(diagnostics.Errors(problems)) > 0 {
		s.outcome = exitInput
	}
	for _, failed := range pluginFaults(results) {
		s.outcome = exitFault
		report.WriteError(s.err, s.style, failed)
		problems = append(problems, failed.problem())
	}
	problems = diagnostics.Sorted(problems)
	doc := report.NewPlan(p, results, clean, problems)
	s.openElsewhere(w)
	doc.AddPlaces(p.Tasks, w.unfit)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WritePlan(s.out, s.shown(), doc, s.flags.verbose)
	if why := w.nothingToDo(); why != "" && len(p.Tasks) == 0 {
		_, err = fmt.Fprintln(s.out, report.Printable(why))
	}
	return err
}
