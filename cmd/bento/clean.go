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
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/record"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

func cleanCommand(s *session) *cobra.Command {
	var yes, dry bool
	var sel selection
	cmd := &cobra.Command{
		Use: "clean [TARGET…]", GroupID: "setup",
		Short:   "Remove the outputs of tasks, and nothing else",
		Long:    "Remove what runs of the selected dishes' tasks have made and their outputs match.\nA file that git tracks always stays, and so do installed dependencies and what no\nrecorded run has made. The cache keeps its\nresults: bento build puts them back.",
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
	Left   []string `json:"left"`  // what no recorded run has made
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
		if unlock, err = w.env.State.Lock(ctx, state.RunLock, func(owner string) {
			s.warn("waiting", fmt.Sprintf("another bento runs in this workspace (%s); waiting for it", owner), "")
		}); err != nil {
			return err
		}
	}
	defer unlock()
	doc, err := w.outputs(p, dry)
	if err != nil {
		return err
	}
	if doc.DryRun = dry; !dry && len(doc.Paths) > 0 {
		if !yes {
			if err := s.confirm(doc); err != nil {
				return err
			}
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

// outputs lists what the tasks of a plan have made and may be removed.
func (w *workspace) outputs(p *plan.Plan, dry bool) (cleaned, error) {
	doc := cleaned{Schema: report.Schema("clean"), Paths: []string{}, Kept: []string{}, Left: []string{}}
	seen := make(map[string]bool)
	if !dry { // what a killed run has left counts once it is sorted out
		r := record.Recorder{Root: w.Root, Tree: w.Tree, Warn: func(string, string, string) {}}
		r.Recover(w.env.State)
	}
	made := w.recorded(p)
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
				doc.add(w, e, made)
			}
		}
	}
	slices.Sort(doc.Paths)
	slices.Sort(doc.Kept)
	slices.Sort(doc.Left)
	return doc, nil
}

// recorded returns the paths that runs of the tasks of a plan are known to have made,
// and what executions have left that failed or were killed.
func (w *workspace) recorded(p *plan.Plan) map[string]bool {
	made := make(map[string]bool)
	memory := lastrun.Open(w.env.State)
	for _, t := range p.Tasks {
		last := memory.Of(t)
		for _, path := range slices.Concat(last.Outputs, last.Left) {
			made[path] = true
		}
	}
	return made
}

// add sorts out one file that the outputs match. What nobody has recorded is a source,
// or somebody else has made it.
func (doc *cleaned) add(w *workspace, e tree.Entry, made map[string]bool) {
	switch {
	case w.Tree.MayTrack(e.Path):
		doc.Kept = append(doc.Kept, e.Path)
		return
	case !made[e.Path] || territory.IsOwn(e.Path):
		doc.Left = append(doc.Left, e.Path)
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
func (doc cleaned) remove(ctx context.Context, root string) error {
	for _, p := range slices.Backward(doc.Paths) {
		if err := ctx.Err(); err != nil {
			return err
		}
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
	for _, p := range doc.Left[:min(len(doc.Left), maxLeft)] {
		fmt.Fprintf(w, "left: not made by a recorded run: %s\n", report.PrintableLine(p))
	}
	if more := len(doc.Left) - maxLeft; more > 0 {
		fmt.Fprintf(w, "left: %s more\n", report.Count(more, "file"))
	}
}

// maxLeft bounds how many files are named that clean leaves.
const maxLeft = 20
