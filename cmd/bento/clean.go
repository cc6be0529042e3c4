package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

func cleanCommand(s *session) *cobra.Command {
	var yes, dry bool
	var sel selection
	cmd := &cobra.Command{
		Use: "clean [TARGET…]", GroupID: "setup",
		Short:   "Remove the outputs of tasks, and nothing else",
		Long:    "Remove the files that runs of the selected dishes' tasks have made and that match\ntheir outputs. Files that git tracks, installed dependencies and files that no\nrecorded run has made stay. The cache keeps the results: bento build restores them.",
		Example: "  bento clean --dry-run\n  bento clean api --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.clean(cmd.Context(), sel, yes, dry)
		},
	}
	addDishes(cmd, &sel)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the files that would be removed")
	return cmd
}

// cleaned is the document of `bento clean`.
type cleaned struct {
	Schema string   `json:"schema"`
	DryRun bool     `json:"dry_run"`
	Paths  []string `json:"paths"` // removed, or to be removed
	Kept   []string `json:"kept"`  // outputs that git tracks
	Left   []string `json:"left"`  // files that no recorded run has made
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`

	made map[string]bool // what recorded runs have made, directories included
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
		return notFound("git_unreadable", "bento cannot read which files git tracks, so it removes nothing", "run git status, which reports the cause")
	}
	unlock := func() {}
	if !dry {
		if unlock, err = w.env.State.Lock(ctx, state.RunLock, func(holder string) {
			s.warn("waiting", "another bento runs in this workspace; waiting for it", holder)
		}); err != nil {
			return err
		}
	}
	defer unlock()
	doc, err := w.outputs(ctx, p, dry)
	if err != nil {
		return err
	}
	if doc.DryRun = dry; !dry && len(doc.Paths) > 0 {
		if !yes {
			yes, err = s.confirm(ctx, "bento clean", fmt.Sprintf("remove %s, %s?", report.Count(doc.Files, "file"), report.ByteSize(doc.Bytes)))
			if err != nil {
				return err
			}
		}
		if !yes {
			return s.nothingRemoved(doc.untouched())
		}
		if err := doc.remove(ctx, w.Root); err != nil {
			return err
		}
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	doc.write(s.out)
	return nil
}

// untouched returns the document of a clean that the user has declined.
func (doc cleaned) untouched() cleaned {
	doc.Paths, doc.Files, doc.Bytes = []string{}, 0, 0
	return doc
}

// nothingRemoved reports that the user has declined. doc is the document for --json.
func (s *session) nothingRemoved(doc any) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	_, err := io.WriteString(s.out, "nothing removed\n")
	return err
}

// outputs lists the removable outputs of the tasks of a plan.
func (w *opened) outputs(ctx context.Context, p *plan.Plan, dry bool) (cleaned, error) {
	doc := cleaned{Schema: report.Schema("clean"), Paths: []string{}, Kept: []string{}, Left: []string{}}
	seen := make(map[string]bool)
	if !dry { // the recovery of a killed run records its outputs
		r := record.Recorder{Root: w.Root, Tree: w.Tree, Warn: func(string, string, string) {}}
		r.Recover(ctx, w.env.State)
	}
	made := w.recorded(p)
	doc.made = made
	for _, t := range p.Tasks {
		if !t.Requested || len(t.Outputs) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return doc, err
		}
		entries, err := outputsThere(w, t)
		if err != nil {
			return doc, err
		}
		for _, e := range entries {
			if !seen[e.Path] {
				seen[e.Path] = true
				doc.add(w, e, made)
			}
		}
	}
	slices.Sort(doc.Paths)
	slices.Sort(doc.Kept)
	slices.Sort(doc.Left)
	return doc, nil
}

// recorded returns the paths that recorded runs of the tasks of a plan have made, failed
// and killed ones included.
func (w *opened) recorded(p *plan.Plan) map[string]bool {
	made := make(map[string]bool)
	memory := key.OpenHistory(w.env.State)
	for _, t := range p.Tasks {
		last := memory.Of(t)
		for _, path := range slices.Concat(last.Outputs, last.Left) {
			made[path] = true
		}
	}
	return made
}

// add classifies one file that matches the outputs. A file without a record is a source, or
// comes from another program.
func (doc *cleaned) add(w *opened, e tree.Entry, made map[string]bool) {
	switch {
	case w.Tree.MayTrack(e.Path):
		doc.Kept = append(doc.Kept, e.Path)
		return
	case !made[e.Path] || key.IsOwn(e.Path):
		doc.Left = append(doc.Left, e.Path)
		return
	}
	doc.Paths = append(doc.Paths, e.Path)
	if e.Kind == tree.File {
		doc.Files++
		doc.Bytes += e.Size
	}
}

// remove removes the paths, files before their directories, and then the empty directories.
// The error counts the paths that could not be removed; all others are gone.
func (doc cleaned) remove(ctx context.Context, root string) error {
	stuck, first := 0, error(nil)
	for _, p := range slices.Backward(doc.Paths) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := outputs.RemoveUnlocked(root, p, false, func(dir string) bool { return doc.made[dir] }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			stuck++
			first = cmp.Or(first, err)
		}
	}
	for _, p := range slices.Backward(doc.Paths) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if outputs.RemoveDir(root, dir) != nil {
				break // the directory stays, and so do those above it
			}
			if _, err := tree.Stat(root, dir); err == nil {
				break
			}
		}
	}
	if stuck > 0 {
		return fmt.Errorf("%s cannot be removed; the first: %w", report.Count(stuck, "path"), first)
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
		fmt.Fprintf(w, "; not removed, tracked by git: %s", report.Count(len(doc.Kept), "file"))
	}
	fmt.Fprintln(w)
	for _, p := range doc.Left[:min(len(doc.Left), maxLeft)] {
		fmt.Fprintf(w, "left: no recorded run made %s\n", report.PrintableLine(p))
	}
	if more := len(doc.Left) - maxLeft; more > 0 {
		fmt.Fprintf(w, "left: %s more\n", report.Count(more, "file"))
	}
}

// maxLeft is the maximal number of remaining files that clean names.
const maxLeft = 20
