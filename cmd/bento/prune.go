package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/prune"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree"
)

func subsetCommand(s *session) *cobra.Command {
	docker := false
	cmd := &cobra.Command{
		Use: "prune TARGET… OUT", GroupID: "setup",
		Short:   "Copy the files that dishes need into a new directory",
		Long:    "Copy the dishes of TARGET, all that their tasks read, and the manifests and lockfiles of\ntheir languages into the new directory OUT. With --docker, OUT gets two layers: json has\nthe manifests and lockfiles, from which dependencies can be installed, and full has all.",
		Example: "  bento prune api out\n  bento prune api --docker out",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError("bento prune requires a target and a new directory", "as in bento prune api --docker out")
			}
			return s.prune(cmd.Context(), args[:len(args)-1], args[len(args)-1], docker)
		},
	}
	cmd.Flags().BoolVar(&docker, "docker", false, "make two layers: OUT/json and OUT/full")
	return cmd
}

// pruned is the document of `bento prune`.
type pruned struct {
	Schema    string   `json:"schema"`
	Out       string   `json:"out"`       // absolute
	Dishes    []string `json:"dishes"`    // the names of those whose files are copied
	Manifests int      `json:"manifests"` // the number of files that an install reads
	Files     int      `json:"files"`     // the number of all files
	LeftOut   []string `json:"left_out"`  // links that lead out of the workspace, and special files
}

func (s *session) prune(ctx context.Context, targets []string, out string, docker bool) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	out, err = s.newDirectory(w, out)
	if err != nil {
		return err
	}
	p, err := s.plan(ctx, w, selection{Request: plan.Request{Targets: targets, AllTasks: true}})
	if err != nil {
		return err
	}
	inputs, err := inputsOf(ctx, w, p)
	if err != nil {
		return err
	}
	from := clone.At(w.Root)
	sub, err := prune.Choose(w.Tree, p, inputs, func(name string) []byte {
		data, _ := from.Read(name, tomlfile.MaxManifest) // a manifest that cannot be read has no targets
		return data
	})
	if err != nil {
		return err
	}
	doc := pruned{Schema: report.Schema("prune"), Out: out, Dishes: []string{}, Manifests: len(sub.Manifests), Files: len(sub.Files), LeftOut: []string{}}
	for _, d := range sub.Dishes {
		doc.Dishes = append(doc.Dishes, d.Name)
	}
	full := out
	if docker {
		full = filepath.Join(out, "full")
		if _, err := prune.Copy(w.Tree, sub.Manifests, sub.Stubs, filepath.Join(out, "json")); err != nil {
			return err
		}
	}
	left, err := prune.Copy(w.Tree, sub.Files, sub.LeftStubs, full)
	if err != nil {
		return err
	}
	doc.LeftOut = append(doc.LeftOut, left...)
	return show(s, doc, writePruned)
}

// newDirectory returns the absolute path of a directory that is missing or empty. In the workspace git has to ignore
// it: else the copies would be sources.
func (s *session) newDirectory(w *opened, out string) (string, error) {
	if out == "" {
		return "", usageError("the name of the new directory is empty", "check for an unset variable")
	}
	if !filepath.IsAbs(out) {
		_, cwd, err := s.root()
		if err != nil {
			return "", err
		}
		out = filepath.Join(cwd, out)
	}
	switch entries, err := os.ReadDir(out); {
	case err == nil && len(entries) > 0:
		return "", notFound("prune_exists", fmt.Sprintf("%q is not empty, and bento prune replaces nothing", out), "remove it, or name another directory")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", notFound("prune_exists", fmt.Sprintf("%q cannot be the new directory: %v", out, err), "name another one")
	}
	if rel, inside := w.Relative(out); inside && !w.Tree.Ignored(rel, true) {
		return "", usageError(fmt.Sprintf("%q is in the workspace, so the copies would be sources", out), "add /"+rel+"/ to .gitignore, or name a directory outside")
	}
	return out, nil
}

// inputsOf returns the paths of all inputs of the tasks of a plan.
func inputsOf(ctx context.Context, w *opened, p *plan.Plan) (paths []string, err error) {
	ev, err := w.env.Evaluator(p, false, nil)
	if err != nil {
		return nil, err
	}
	results, err := ev.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range results {
		ev.Load(ctx, t, true)
		for _, e := range append(append([]tree.Entry(nil), t.Entries...), t.Lock...) {
			paths = append(paths, e.Path)
		}
	}
	return paths, nil
}

func writePruned(w io.Writer, _ report.Style, doc pruned) {
	fmt.Fprintf(w, "made %s: %s of %s, %s\n", report.PrintableLine(doc.Out), report.Count(doc.Files, "file"), report.Count(len(doc.Dishes), "dish"), report.Count(doc.Manifests, "manifest"))
	for _, name := range doc.LeftOut {
		fmt.Fprintf(w, "left out  %s\n", report.PrintableLine(name))
	}
}
