package main

import (
	"context"
	"fmt"
	"io"

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
		Short:       "List the tasks of dishes with their commands",
		Long:        "List the tasks of every dish, or of those of TARGET (the name of a dish or a bento,\na path, or a glob), with their commands.",
		Example:     "  bento tasks\n  bento tasks api --json",
		RunE:        func(cmd *cobra.Command, args []string) error { return s.listTasks(cmd.Context(), args) },
	}
}

// taskList is the document of `bento tasks`.
type taskList struct {
	Schema  string    `json:"schema"`
	Entries []taskRow `json:"entries"`
}

type taskRow struct {
	ID          string `json:"id"` // "dish:task"
	Dish        string `json:"dish"`
	Name        string `json:"name"`
	Run         string `json:"run"`
	Persistent  bool   `json:"persistent,omitempty"`
	Interactive bool   `json:"interactive,omitempty"`
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
	doc := taskList{Schema: report.Schema("tasks"), Entries: []taskRow{}}
	for _, d := range p.Dishes {
		for _, t := range p.TasksOf(d) {
			doc.Entries = append(doc.Entries, taskRow{t.ID(), d.Name, t.Name, t.Run, t.Persistent, t.Interactive})
		}
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	doc.write(s.out, s.style)
	if len(w.Dishes) == 0 {
		_, err = fmt.Fprintln(s.out, report.Printable(w.lookedFor()))
	}
	return err
}

func (doc taskList) write(w io.Writer, style report.Style) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no tasks")
	}
	for _, t := range doc.Entries {
		line := style.Bold(fmt.Sprintf("%-20s", report.PrintableLine(t.ID))) + "  " + report.PrintableLine(firstLine(t.Run))
		switch {
		case t.Persistent:
			line += style.Dim("  (persistent)")
		case t.Interactive:
			line += style.Dim("  (interactive)")
		}
		fmt.Fprintln(w, line)
	}
}
