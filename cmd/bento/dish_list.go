package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/report"
)

func dishListCommand(s *session) *cobra.Command {
	var leftOut bool
	cmd := &cobra.Command{
		Use: "list [TARGET…]", Short: "List the dishes and their tasks",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "List the dishes and their tasks, or with --left-out the directories with a manifest\nthat are no dishes, with the reason. TARGET is the name of a dish or a bento, or a\npath.",
		Example:     "  bento dish list\n  bento dish list services/ --json\n  bento dish list --left-out",
		RunE:        func(cmd *cobra.Command, args []string) error { return s.dishList(cmd.Context(), args, leftOut) },
	}
	cmd.Flags().BoolVar(&leftOut, "left-out", false, "list the directories with a manifest that are no dishes, and why")
	return cmd
}

// dishList is the document of `bento dish list`.
type dishList struct {
	Schema  string         `json:"schema"`
	Entries []dishRow      `json:"entries"`
	LeftOut []dish.LeftOut `json:"left_out,omitempty"`
}

type dishRow struct {
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	Language   *string  `json:"language"` // null for none
	Bentos     []string `json:"bentos"`
	Tasks      []string `json:"tasks"`
	DependsOn  []string `json:"depends_on"` // names of dishes
	Configured bool     `json:"configured"` // it has a dish.toml
}

func (s *session) dishList(ctx context.Context, targets []string, leftOut bool) error {
	if leftOut && len(targets) > 0 {
		return usageError("bento dish list takes TARGET or --left-out, not both", "")
	}
	w, dishes, err := s.selected(ctx, targets)
	if err != nil {
		return err
	}
	defer w.close()
	w.keepNames()
	doc := dishList{Schema: report.Schema("dish.list"), Entries: []dishRow{}, LeftOut: w.LeftOut}
	for _, d := range dishes {
		doc.Entries = append(doc.Entries, w.dishRow(d))
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	if leftOut {
		doc.writeLeftOut(s.out, s.style)
	} else {
		doc.write(s.out, s.style)
		if len(w.Dishes) == 0 {
			fmt.Fprintln(s.out, report.Printable(w.lookedFor()))
		}
	}
	return nil
}

func (doc dishList) writeLeftOut(w io.Writer, style report.Style) {
	if len(doc.LeftOut) == 0 {
		fmt.Fprintln(w, "every directory with a manifest is a dish")
	}
	for _, l := range doc.LeftOut {
		fmt.Fprintf(w, "%s  %s  %s\n", style.Bold(report.PrintableLine(l.Path)), l.Reason, style.Dim(report.PrintableLine("("+l.Adapter+") "+l.Why)))
	}
}

func (w *opened) dishRow(d *dish.Dish) dishRow {
	row := dishRow{
		Name: d.Name, Path: d.Path, Configured: d.Config != nil,
		Bentos: append([]string{}, d.Bentos...), Tasks: taskNames(d), DependsOn: []string{},
	}
	if d.Adapter != nil {
		id := d.Adapter.Manifest().AdapterID
		row.Language = &id
	}
	for _, l := range d.Links {
		row.DependsOn = append(row.DependsOn, l.To.Name)
	}
	slices.Sort(row.DependsOn)
	row.DependsOn = slices.Compact(row.DependsOn)
	return row
}

// taskNames returns the sorted names of the tasks of a dish, those of its adapter included.
func taskNames(d *dish.Dish) []string {
	names := []string{}
	for _, t := range d.Tasks {
		names = append(names, t.Name)
	}
	if d.Config != nil {
		for _, t := range d.Config.Tasks {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (doc dishList) write(w io.Writer, style report.Style) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no dishes; bento dish add DIR makes one")
	}
	for _, d := range doc.Entries {
		language := "none"
		if d.Language != nil {
			language = *d.Language
		}
		fmt.Fprintf(w, "%s  %s  %s\n", style.Bold(fmt.Sprintf("%-16s", report.PrintableLine(d.Name))), report.PrintableLine(d.Path), style.Dim("("+language+")"))
		if len(d.Tasks) > 0 {
			fmt.Fprintf(w, "  %s\n", report.PrintableLine(strings.Join(d.Tasks, ", ")))
		}
	}
}
