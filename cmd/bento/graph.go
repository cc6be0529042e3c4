package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/page"
)

func graphCommand(s *session) *cobra.Command {
	sel, format := selection{}, "text"
	cmd := &cobra.Command{
		Use: "graph [TARGET…]", GroupID: "ask",
		Annotations: traits{Reads: true, Flags: []string{"no-cache"}}.annotations(),
		Short:       "Print the dependencies between dishes and between tasks",
		Example:     "  bento graph\n  bento graph --format dot | dot -Tsvg -o graph.svg\n  bento graph --format html > graph.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.graph(cmd.Context(), sel, format)
		},
	}
	addSelection(cmd, &sel)
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT` to print: text, dot, json, html")
	return cmd
}

func (s *session) graph(ctx context.Context, sel selection, format string) error {
	formats := []string{"text", "dot", "json", "html"}
	if !slices.Contains(formats, format) {
		return usageError("--format "+format+" is unknown", diagnostics.Suggest(format, formats))
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
	case format == "html":
		return s.graphPage(ctx, w, p)
	case format == "dot":
		report.WriteDot(s.out, doc)
	default:
		report.WriteGraph(s.out, s.style, doc)
	}
	return nil
}

// graphPage prints the page of a graph.
func (s *session) graphPage(ctx context.Context, w *opened, p *plan.Plan) error {
	doc, err := s.pageOf(ctx, w, p)
	if err != nil {
		return err
	}
	return page.Write(s.out, doc)
}

// pageOf evaluates the tasks of a plan, and returns the data of its page.
func (s *session) pageOf(ctx context.Context, w *opened, p *plan.Plan) (page.Data, error) {
	ev, err := w.env.Evaluator(p, s.flags.noCache, nil)
	if err != nil {
		return page.Data{}, err
	}
	results, err := ev.All(ctx)
	if err != nil {
		return page.Data{}, err
	}
	for _, t := range results {
		ev.Load(ctx, t, true)
	}
	var last *report.Run
	if docs, err := s.lastRuns(); err == nil { // else no run is stored
		last = docs[len(docs)-1]
	}
	doc := report.NewPage("bento: "+filepath.Base(w.Root), p, results, last)
	doc.Panels = s.panels(w)
	return doc, nil
}

// panels returns the tool panels of the extensions of a workspace. It starts none.
func (s *session) panels(w *opened) (list []page.Panel) {
	for _, e := range kit.FindExtensions(s.host(), w.Config).List {
		if e.Unready() != nil {
			continue
		}
		for _, p := range e.Panels() {
			list = append(list, page.Panel{ID: report.PrintableLine(e.PanelName(p.ID)), Title: report.PrintableLine(p.Title)})
		}
	}
	return list
}
