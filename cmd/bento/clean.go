package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tree"
)

func cleanCommand(s *session) *cobra.Command {
	var yes, dry bool
	var sel selection
	cmd := &cobra.Command{
		Use: "clean [TARGET…]", GroupID: "setup",
		Short:   "Remove the outputs of tasks, and nothing else",
		Long:    "Remove what matches the outputs of the selected dishes' tasks. A file that git\ntracks always stays, and so do installed dependencies. The cache keeps its\nresults: bento build puts them back.",
		Example: "  bento clean --dry-run\n  bento clean api --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.clean(cmd.Context(), sel, yes, dry)
		},
	}
	addDishes(cmd, &sel)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

// cleaned is the document of `bento clean`.
type cleaned struct {
	Schema string   `json:"schema"`
	DryRun bool     `json:"dry_run"`
	Paths  []string `json:"paths"` // removed, or to be removed
	Kept   []string `json:"kept"`  // outputs that git tracks
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`
}

func (s *session) clean(ctx context.Context, sel selection, yes, dry bool) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.everyTask(ctx, w, sel)
	if err != nil {
		return err
	}
	if w.Tree.Unsure() {
		return notFound("git_unreadable", "nobody can tell which files git tracks, so nothing is removed", "git status says what is wrong")
	}
	unlock := func() {}
	if !dry {
		if unlock, err = w.env.State.Lock(ctx, "locks/run.lock", func(owner string) {
			s.warn("waiting", fmt.Sprintf("another bento runs in this workspace (%s); waiting for it", owner), "")
		}); err != nil {
			return err
		}
	}
	defer unlock()
	doc, err := w.outputs(p)
	if err != nil {
		return err
	}
	if doc.DryRun = dry; !dry && len(doc.Paths) > 0 {
		if !yes {
			if err := s.confirm(doc); err != nil {
				return err
			}
		}
		if err := doc.remove(w.Root); err != nil {
			return err
		}
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	doc.write(s.out)
	return nil
}

// outputs lists what the tasks of a plan have made and may be removed.
func (w *workspace) outputs(p *plan.Plan) (cleaned, error) {
	doc := cleaned{Schema: report.Schema("clean"), Paths: []string{}, Kept: []string{}}
	seen := make(map[string]bool)
	for _, t := range p.Tasks {
		if !t.Requested || len(t.Outputs) == 0 {
			continue
		}
		entries, err := outputsThere(w, t)
		if err != nil {
			return doc, err
		}
		for _, e := range entries {
			if !seen[e.Path] {
				seen[e.Path] = true
				doc.add(w, e)
			}
		}
	}
	slices.Sort(doc.Paths)
	slices.Sort(doc.Kept)
	return doc, nil
}

func (doc *cleaned) add(w *workspace, e tree.Entry) {
	if w.Tree.Tracked(e.Path) {
		doc.Kept = append(doc.Kept, e.Path)
		return
	}
	doc.Paths = append(doc.Paths, e.Path)
	if e.Kind == tree.File {
		doc.Files++
		doc.Bytes += e.Size
	}
}

// confirm asks whoever sits at the terminal.
func (s *session) confirm(doc cleaned) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return usageError("bento clean asks before it removes anything, and nobody is there to answer", "say --yes, or --dry-run to see what it would be")
	}
	fmt.Fprintf(s.err, "bento: remove %s, %s? [y/N] ", report.Count(doc.Files, "file"), report.ByteSize(doc.Bytes))
	line, _ := bufio.NewReader(io.LimitReader(os.Stdin, 1<<10)).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return usageError("nothing was removed", "say y, or give --yes")
	}
	return nil
}

// remove removes the paths, what is in a directory before it, and the directories
// that are empty then. What is no longer empty stays.
func (doc cleaned) remove(root string) error {
	for _, p := range slices.Backward(doc.Paths) {
		if err := outputs.Remove(root, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%q cannot be removed: %w", p, err)
		}
	}
	for _, p := range slices.Backward(doc.Paths) {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if outputs.Remove(root, dir) != nil {
				break // it stays, and so do those around it
			}
			if _, err := tree.Stat(root, dir); err == nil {
				break
			}
		}
	}
	return nil
}

func (doc cleaned) write(w io.Writer) {
	word := "removed"
	if doc.DryRun {
		word = "would remove"
		for _, p := range doc.Paths {
			fmt.Fprintln(w, report.PrintableLine(p))
		}
	}
	fmt.Fprintf(w, "%s %s, %s", word, report.Count(doc.Files, "file"), report.ByteSize(doc.Bytes))
	if len(doc.Kept) > 0 {
		fmt.Fprintf(w, "; what git tracks stays: %s", report.Count(len(doc.Kept), "file"))
	}
	fmt.Fprintln(w)
}
