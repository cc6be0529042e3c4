package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
)

func dishListCommand(s *session) *cobra.Command {
	var leftOut bool
	cmd := &cobra.Command{
		Use: "list [TARGET…]", Short: "List the dishes and their tasks",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "List the dishes and their tasks, or with --left-out the directories with a manifest\nthat are no dishes, with the reason. TARGET is the name of a dish or a bento,\ntag:NAME for the dishes with this tag, or a path.",
		Example:     "  bento dish list\n  bento dish list services/ --json\n  bento dish list --left-out",
		RunE:        func(cmd *cobra.Command, args []string) error { return s.dishList(cmd.Context(), args, leftOut) },
	}
	cmd.Flags().BoolVar(&leftOut, "left-out", false, "list the directories with a manifest that are no dishes, and why")
	return cmd
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
	doc := report.DishList{Schema: report.Schema("dish.list"), Entries: []report.DishRow{}, LeftOut: w.LeftOut}
	for _, d := range dishes {
		doc.Entries = append(doc.Entries, report.NewDishRow(d))
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	if leftOut {
		report.WriteLeftOut(s.out, s.style, doc)
	} else {
		report.WriteDishList(s.out, s.style, doc)
		if len(w.Dishes) == 0 {
			fmt.Fprintln(s.out, report.Printable(w.lookedFor()))
		}
	}
	return nil
}
