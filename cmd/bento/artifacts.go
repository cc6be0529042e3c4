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
	doc := report.Artifacts{Schema: report.Schema("artifacts"), Entries: []report.Artifact{}}
	for _, t := range p.Tasks {
		if !t.Requested {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := record.Existing(w.Tree, t)
		if err != nil {
			return err
		}
		for _, e := range entries {
			a, ok, err := artifactOf(w, t, e)
			if err != nil {
				return err
			}
			if ok {
				doc.Add(a)
			}
		}
	}
	_ = w.Tree.Index().Save() // after a failure, the next command hashes the files again
	if dir != "" {
		if err := apart(doc.Entries, p, dir); err != nil {
			return err
		}
		if err := copyTo(ctx, doc.Entries, w.Root, dir); err != nil {
			return err
		}
		doc.Copied = dir
	}
	return show(s, doc, report.WriteArtifacts)
}

// everyTask plans all tasks of the selected dishes, not only the requested ones.
func (s *session) everyTask(ctx context.Context, w *opened, sel selection) (*plan.Plan, error) {
	sel.AllTasks = true
	return s.plan(ctx, w, sel)
}

// artifactOf describes an existing output of a task. ok is false for an entry that cannot be an output.
func artifactOf(w *opened, t *plan.Task, e tree.Entry) (a report.Artifact, ok bool, err error) {
	a = report.Artifact{Dish: t.Dish.Name, Task: t.Name, Path: e.Path, Kind: "file", Size: e.Size, Exec: e.Mode&0o111 != 0}
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
		return a, false, nil
	}
	return a, true, err
}

// apart returns an error if a copy in dir would match the outputs of a task of p.
func apart(list []report.Artifact, p *plan.Plan, dir string) error {
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
		claims := func(a report.Artifact) bool { return set.Match(path.Join(rel, a.Path)) }
		if set.Match(rel) || (rel == "." || set.Enters(rel)) && slices.ContainsFunc(list, claims) {
			return usageError(fmt.Sprintf("--copy %q is itself an output of %s", dir, t.ID()), "name a directory elsewhere")
		}
	}
	return nil
}

// copyTo makes dir and copies the artifacts to it.
func copyTo(ctx context.Context, list []report.Artifact, root, dir string) error {
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
	for _, a := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := copyOne(ctx, a, in, out); err != nil {
			return fmt.Errorf("%q cannot be copied to %q: %w", a.Path, dir, err)
		}
	}
	return nil
}

// copyOne copies one artifact from one directory to another. It follows no link out of
// either.
func copyOne(ctx context.Context, a report.Artifact, in, out *os.Root) error {
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
