package run

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// maxCopied is the largest number of files of one directory that the stamp of an install covers.
const maxCopied = 200_000

// addCopied adds what an install copies out of the workspace, or compiles, to its stamp.
func (in *installer) addCopied(ctx context.Context, w *pack.Writer, d *dish.Dish) {
	for _, c := range d.Scope.Copied {
		rel, err := filepath.Rel(in.Root, c.Dir)
		if err != nil || !filepath.IsLocal(rel) || in.Tree == nil {
			continue
		}
		sum := in.copied(ctx, d, filepath.ToSlash(rel), c)
		w.String(c.Dir)
		w.Raw(sum[:])
	}
}

// copied returns the digest of the files that an install takes from the directory dir of the workspace.
func (in *installer) copied(ctx context.Context, d *dish.Dish, dir string, c adapters.Copied) [32]byte {
	l := copiedFiles{in: in, of: c}
	if set, err := tree.CompileSet(dir, d.Adapter.Manifest().DerivedPaths); err == nil && !c.Ignored {
		l.derived = set
	}
	if globs := in.Installs.Inputs[dir]; c.Scripts && len(globs) > 0 {
		return in.narrowed(dir, globs)
	}
	_ = filepath.WalkDir(c.Dir, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil || len(l.paths) >= maxCopied {
			return fs.SkipAll
		}
		if err != nil {
			return nil // an unreadable directory is none of what can be copied
		}
		return l.visit(path, e)
	})
	return in.sumOf(l.paths)
}

// narrowed returns the digest of the files that [install] inputs selects in the dish at dir.
func (in *installer) narrowed(dir string, globs []string) (sum [32]byte) {
	set, err := tree.CompileSet(dir, globs)
	if err != nil {
		return sum // the configuration was refused before anything ran
	}
	entries, err := in.Tree.Expand(set)
	if err != nil {
		return sum
	}
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.Path
	}
	return in.sumOf(paths)
}

// sumOf returns the digest of files of the workspace. The index knows the content of files whose stat
// is unchanged.
func (in *installer) sumOf(paths []string) [32]byte {
	h := blake3.New()
	for _, path := range paths {
		e, err := in.Tree.Stat(path)
		if err != nil {
			continue
		}
		switch e.Kind {
		case tree.File:
			sum, err := in.Tree.Index().Sum(e)
			fmt.Fprintf(h, "%q %o %x %v\n", path, e.Mode&0o111, sum, err != nil)
		case tree.Link:
			target, _ := in.Tree.Readlink(e)
			fmt.Fprintf(h, "%q -> %q\n", path, target)
		}
	}
	return [32]byte(h.Sum(nil))
}

// copiedFiles collects the files below a directory that an install may take.
type copiedFiles struct {
	in      *installer
	of      adapters.Copied
	derived *tree.Set
	paths   []string // relative to the workspace
}

// visit adds a file, or decides whether a directory is searched.
func (l *copiedFiles) visit(path string, e fs.DirEntry) error {
	rel, err := filepath.Rel(l.in.Root, path)
	if err != nil {
		return nil
	}
	rel = filepath.ToSlash(rel)
	skipped := slices.Contains(l.of.Except, path) || e.IsDir() && path != l.of.Dir && isNeverCopied(e.Name()) ||
		!l.of.Ignored && path != l.of.Dir && l.in.Tree.Ignored(rel, e.IsDir())
	switch {
	case skipped && e.IsDir():
		return fs.SkipDir
	case e.IsDir() || skipped || l.derived != nil && l.derived.Match(rel) && !l.in.Tree.Tracked(rel):
	default:
		l.paths = append(l.paths, rel)
	}
	return nil
}

// isNeverCopied reports whether no tool copies a directory with this name from a package: what tools of
// the package have installed or cached there, and what belongs to git and bento.
func isNeverCopied(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", ".git", ".bento", "__pycache__"}, name) || strings.HasSuffix(name, "cache") && name[0] == '.'
}
