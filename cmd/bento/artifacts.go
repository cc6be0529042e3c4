package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tree"
)

func artifactsCommand(s *session) *cobra.Command {
	var dir string
	var sel selection
	cmd := &cobra.Command{
		Use: "artifacts [TARGET…]", GroupID: "ask",
		Annotations: traits{Reads: true, Unless: "copy"}.annotations(),
		Short:       "List the existing outputs with their digests",
		Long:        "List the existing files that match the outputs of the selected dishes' tasks, with\nsize and BLAKE3 digest. --copy copies them to DIR, under their paths in the\nworkspace. The command runs no task; bento build makes the outputs.",
		Example:     "  bento artifacts\n  bento build api && bento artifacts api --copy dist\n  bento artifacts --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.Targets = args
			return s.artifacts(cmd.Context(), sel, dir)
		},
	}
	addDishes(cmd, &sel)
	cmd.Flags().StringVar(&dir, "copy", "", "copy them into `DIR`")
	return cmd
}

// addDishes adds the flags that select dishes to a command.
func addDishes(cmd *cobra.Command, sel *selection) {
	cmd.Flags().Var(repeated{&sel.Dishes}, "dish", "only the dish `NAME` (repeatable)")
	cmd.Flags().Var(repeated{&sel.Bentos}, "bento", "only the dishes of the bento `NAME` (repeatable)")
}

// artifacts is the document of `bento artifacts`.
type artifacts struct {
	Schema  string        `json:"schema"`
	Entries []artifact    `json:"entries"`
	Copied  string        `json:"copied_to,omitempty"`
	Summary artifactCount `json:"summary"`
}

type artifactCount struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

type artifact struct {
	Dish   string `json:"dish"`
	Task   string `json:"task"`
	Path   string `json:"path"` // from the workspace
	Kind   string `json:"kind" enum:"file,link,directory"`
	Digest string `json:"digest,omitempty"` // of a file
	Size   int64  `json:"size"`
	Exec   bool   `json:"executable,omitempty"`
	Target string `json:"target,omitempty"` // of a link
}

func (s *session) artifacts(ctx context.Context, sel selection, dir string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.everyTask(ctx, w, sel)
	if err != nil {
		return err
	}
	doc := artifacts{Schema: report.Schema("artifacts"), Entries: []artifact{}}
	for _, t := range p.Tasks {
		if !t.Requested {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := doc.add(w, t); err != nil {
			return err
		}
	}
	_ = w.Tree.Index().Save() // after a failure, the next command hashes the files again
	if dir != "" {
		if err := doc.apart(p, dir); err != nil {
			return err
		}
		if err := doc.copyTo(ctx, w.Root, dir); err != nil {
			return err
		}
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	doc.write(s.out, s.style)
	return nil
}

// everyTask plans all tasks of the selected dishes, not only the requested ones.
func (s *session) everyTask(ctx context.Context, w *opened, sel selection) (*plan.Plan, error) {
	sel.AllTasks = true
	return s.plan(ctx, w, sel)
}

// add lists the existing outputs of a task.
func (doc *artifacts) add(w *opened, t *plan.Task) error {
	if len(t.Outputs) == 0 {
		return nil
	}
	entries, err := outputsThere(w, t)
	if err != nil {
		return err
	}
	for _, e := range entries {
		a := artifact{Dish: t.Dish.Name, Task: t.Name, Path: e.Path, Kind: "file", Size: e.Size, Exec: e.Mode&0o111 != 0}
		switch e.Kind {
		case tree.Dir:
			a.Kind, a.Size, a.Exec = "directory", 0, false
		case tree.Link:
			a.Kind, a.Exec = "link", false
			a.Target, err = w.Tree.Readlink(e)
		case tree.File:
			var sum [32]byte
			sum, err = w.Tree.Index().Sum(e)
			a.Digest = hex.EncodeToString(sum[:])
		default:
			continue
		}
		if err != nil {
			return err
		}
		if a.Kind == "file" {
			doc.Summary.Files++
			doc.Summary.Bytes += a.Size
		}
		doc.Entries = append(doc.Entries, a)
	}
	return nil
}

// outputsThere returns the existing files that match the outputs of a task.
func outputsThere(w *opened, t *plan.Task) ([]tree.Entry, error) {
	set, err := record.OutputSet(t)
	if err != nil {
		return nil, err
	}
	return w.Tree.Expand(set)
}

func (doc artifacts) write(w io.Writer, style report.Style) {
	last := ""
	for _, a := range doc.Entries {
		if id := a.Dish + ":" + a.Task; id != last {
			fmt.Fprintln(w, style.Bold(report.PrintableLine(id)))
			last = id
		}
		what := a.Digest[:min(12, len(a.Digest))]
		if a.Kind != "file" {
			what = a.Kind
		}
		line := fmt.Sprintf("  %-12s %10s  %s", what, report.ByteSize(a.Size), report.PrintableLine(a.Path))
		if a.Target != "" {
			line += " -> " + report.PrintableLine(a.Target)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "%s, %s", report.Count(doc.Summary.Files, "file"), report.ByteSize(doc.Summary.Bytes))
	if doc.Copied != "" {
		fmt.Fprintf(w, ", copied to %s", report.PrintableLine(doc.Copied))
	}
	fmt.Fprintln(w)
}

// apart returns an error if a copy in dir would match the outputs of a task of p.
func (doc *artifacts) apart(p *plan.Plan, dir string) error {
	to, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(p.Workspace.Root, to)
	if err != nil || !filepath.IsLocal(rel) {
		return nil // dir is outside of the workspace
	}
	rel = filepath.ToSlash(rel)
	for _, t := range p.Tasks {
		set, err := record.OutputSet(t)
		if err != nil {
			return err
		}
		claims := func(a artifact) bool { return set.Match(path.Join(rel, a.Path)) }
		if set.Match(rel) || (rel == "." || set.Enters(rel)) && slices.ContainsFunc(doc.Entries, claims) {
			return usageError(fmt.Sprintf("--copy %q is itself an output of %s", dir, t.ID()), "name a directory elsewhere")
		}
	}
	return nil
}

// copyTo makes dir and copies the artifacts to it.
func (doc *artifacts) copyTo(ctx context.Context, root, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return notFound("unusable_directory", fmt.Sprintf("--copy %q cannot be used: %v", dir, err), "name a writable directory")
	}
	out, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer out.Close()
	in, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer in.Close()
	for _, a := range doc.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.copy(ctx, in, out); err != nil {
			return fmt.Errorf("%q cannot be copied to %q: %w", a.Path, dir, err)
		}
	}
	doc.Copied = dir
	return nil
}

// copy copies one artifact from one directory to another. It follows no link out of
// either.
func (a artifact) copy(ctx context.Context, in, out *os.Root) error {
	name := filepath.FromSlash(a.Path)
	if err := out.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch a.Kind {
	case "directory":
		return out.MkdirAll(name, 0o755)
	case "link":
		_ = out.Remove(name) // if it fails, so does the next line
		return out.Symlink(a.Target, name)
	}
	src, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return err
	}
	defer src.Close()
	mode := os.FileMode(0o644)
	if a.Exec {
		mode = 0o755
	}
	_ = out.Remove(name)
	dst, err := out.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, heeding(ctx, src)); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}
