package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
)

func graphCommand(s *session) *cobra.Command {
	sel, format := selection{}, "text"
	cmd := &cobra.Command{
		Use: "graph [TARGET…]", GroupID: "ask",
		Short:   "Print how dishes and tasks depend on each other",
		Example: "  bento graph\n  bento graph --format dot | dot -Tsvg -o graph.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.graph(cmd.Context(), sel, format)
		},
	}
	addSelection(cmd, &sel)
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT` to print: text, dot, json")
	return cmd
}

func (s *session) graph(ctx context.Context, sel selection, format string) error {
	formats := []string{"text", "dot", "json"}
	if !slices.Contains(formats, format) {
		return usageError("--format "+format+" is not known", diagnostics.Suggest(format, formats))
	}
	w, err := s.open(ctx, nil)
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.plan(ctx, w, sel)
	if err != nil {
		return err
	}
	doc := report.NewGraph(p)
	switch {
	case s.flags.json || format == "json":
		return report.Write(s.out, doc)
	case format == "dot":
		report.WriteDot(s.out, doc)
	default:
		report.WriteGraph(s.out, s.style, doc)
	}
	return nil
}
