package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/report"
)

func boxCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "box", GroupID: "setup", Aliases: []string{"bento"},
		Short: "List and make bentos: named selections of dishes",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the bentos and their dishes", Args: cobra.NoArgs,
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento box list",
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.boxList(cmd.Context()) },
	}, &cobra.Command{
		Use: "add NAME DISH…", Short: "Make a bento, or add dishes to one",
		Long:    "Write bentos/NAME.toml with the named dishes, or add them to the bento of this\nname and keep its comments and order. A DISH is a name or a path.",
		Example: "  bento box add release api web\n  bento build --bento release",
		RunE:    func(cmd *cobra.Command, args []string) error { return s.boxAdd(cmd.Context(), args) },
	})
	return cmd
}

func (s *session) boxList(ctx context.Context) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	doc := report.BentoList{Schema: report.Schema("box.list"), Entries: []report.BentoRow{}}
	for _, b := range w.Bentos {
		doc.Entries = append(doc.Entries, report.BentoRow{Name: b.Name, File: b.Pos.File, Dishes: slices.Concat([]string{}, b.Dishes)})
	}
	return show(s, doc, report.WriteBentoList)
}

// addedBox is the document of `bento box add`.
type addedBox struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Created bool     `json:"created"`
	Added   []string `json:"added"` // paths
}

func (s *session) boxAdd(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return usageError("bento box add requires a name and dishes", "run for example: bento box add release api web")
	}
	name := args[0]
	if why := config.BadName(name); why != "" {
		return notFound(config.RuleName, fmt.Sprintf("%q cannot be the name of a bento: %s", name, why), "use letters, digits, - and _")
	}
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	paths, err := w.dishPaths(args[1:])
	if err != nil {
		return err
	}
	doc := addedBox{Schema: report.Schema("box.add"), Name: name, Added: []string{}}
	i := slices.IndexFunc(w.Bentos, func(b dish.Bento) bool { return b.Name == name })
	if i >= 0 {
		doc.File = w.Bentos[i].Pos.File
		paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(w.Bentos[i].Dishes, w.First(p).Name) })
		paths, err = config.AddToBento(w.Root, doc.File, paths)
	} else {
		doc.Created = true
		doc.File, err = config.NewBento(w.Root, w.Config, name, paths)
	}
	if err != nil {
		return err
	}
	doc.Added = append(doc.Added, paths...)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	fmt.Fprintf(s.out, "%s: %s\n", report.PrintableLine(doc.File), addedText(doc.Added))
	return nil
}

func addedText(paths []string) string {
	if len(paths) == 0 {
		return "it has these dishes already"
	}
	return "added " + report.PrintableLine(strings.Join(paths, ", "))
}

// dishPaths returns the paths of dishes that are named by name or path.
func (w *opened) dishPaths(args []string) ([]string, error) {
	var paths, names []string
	for _, d := range w.Dishes {
		names = append(names, d.Name)
	}
	for _, arg := range args {
		target, err := w.Place(arg, w.dir)
		if err != nil {
			return nil, err
		}
		found := ""
		for _, d := range w.Dishes {
			if d.Name == target || "/"+d.Path == target || d.Path == "." && target == "/." {
				found = d.Path
			}
		}
		if found == "" {
			return nil, notFound("unknown_dish", fmt.Sprintf("no dish is named %q", arg), orList(arg, names, "bento dish list prints the names"))
		}
		if !slices.Contains(paths, found) {
			paths = append(paths, found)
		}
	}
	return paths, nil
}
