package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

func dishesCommand(s *session) *cobra.Command {
	cmd := dishListCommand(s)
	cmd.Use, cmd.GroupID, cmd.Example = "dishes [TARGET…]", "ask", "  bento dishes\n  bento dishes services/ --json\n  bento dishes --left-out"
	return cmd
}

func tasksCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "tasks [TARGET…]", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "List the tasks of dishes with their descriptions or commands",
		Long:        "List the tasks of every dish, or of those of TARGET (the name of a dish or a bento,\ntag:NAME, a path, or a glob), by group: the description of each, or its command if it\nhas none. With --verbose, also list the commands of tasks with a description.",
		Example:     "  bento tasks\n  bento tasks -v\n  bento tasks api --json",
		RunE:        func(cmd *cobra.Command, args []string) error { return s.listTasks(cmd.Context(), args) },
	}
}

func (s *session) listTasks(ctx context.Context, targets []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	w.keepNames()
	p, _, problems, err := s.build(ctx, w, selection{Request: plan.Request{Targets: targets, AllTasks: true}})
	if err != nil {
		return err
	}
	problems = diagnostics.Sorted(append(w.Problems, problems...))
	if p == nil {
		return diagnostics.AsError(problems)
	}
	report.WriteProblems(s.err, s.style, problems)
	doc := report.TaskList{Schema: report.Schema("tasks"), Entries: []report.TaskRow{}}
	for _, d := range p.Dishes {
		for _, t := range p.TasksOf(d) {
			doc.Entries = append(doc.Entries, report.NewTaskRow(t))
		}
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteTaskList(s.out, s.style, doc, s.flags.verbose)
	if len(w.Dishes) == 0 {
		_, err = fmt.Fprintln(s.out, report.Printable(w.lookedFor()))
	}
	return err
}
