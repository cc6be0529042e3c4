package record

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// A file goes astray when a task leaves it where git ignores it and no output covers it: a hit
// would not restore it after it was removed. bento looks for such files only after a project's own
// script or a build; plan.Task.Astray decides.

// passedOver are names of directories and files in which tools keep downloads and caches.
var passedOver = [...]string{
	"node_modules", ".venv", "venv", ".bundle", ".yarn", ".pnpm-store", ".gradle", ".tox", ".nox", "__pycache__", "__pypackages__",
	".cache", ".parcel-cache", ".turbo", ".nx", ".wireit", ".moon", ".eslintcache", ".stylelintcache", ".mypy_cache", ".pytest_cache",
	".ruff_cache", ".hypothesis", ".phpunit.cache", ".swc", ".vite", ".angular", ".DS_Store", ".idea", ".vscode", ".git", ".bento",
}

// isCache reports whether files of this name are caches of tools.
func isCache(p string) bool {
	name := path.Base(p)
	return slices.Contains(passedOver[:], name) || strings.HasSuffix(name, ".tsbuildinfo") || strings.HasSuffix(name, ".pyc") ||
		strings.HasSuffix(name, ".cache")
}

// ignoredNow returns the ignored files where the task may leave some.
func (x *Execution) ignoredNow() ([]tree.Entry, error) {
	t := x.Ev.Task
	if t.Astray() == plan.AstrayIgnored {
		return nil, nil
	}
	list, err := x.Tree.IgnoredNow(t.Dish.Path, func(dir string) bool { return !isCache(dir) && !key.IsOwn(dir) && !x.isTagged(dir) })
	return slices.DeleteFunc(list, func(e tree.Entry) bool { return isCache(e.Path) || key.IsOwn(e.Path) }), err
}

// isTagged reports whether an ignored directory has the tag of a cache
// (https://bford.info/cachedir/), or is one of bento's.
func (x *Execution) isTagged(dir string) bool {
	if !x.Tree.Ignored(dir, true) {
		return false
	}
	for _, tag := range []string{"CACHEDIR.TAG", "made-by-bento"} {
		if e, err := x.Tree.Stat(path.Join(dir, tag)); err == nil && e.Kind == tree.File {
			return true
		}
	}
	return false
}

// findAstray finds, after the command, the files that went astray. made reports whether it made
// outputs.
func (x *Execution) findAstray(made bool) error {
	after, err := x.ignoredNow()
	if err != nil || len(after) == 0 {
		return err
	}
	covered := func(p string) bool {
		return x.set != nil && x.set.Match(p) || x.Elsewhere != nil && x.Elsewhere(p)
	}
	had := make(map[string]tree.Entry, len(x.ignored))
	for _, e := range x.ignored {
		had[e.Path] = e
	}
	wrote := false
	for _, e := range after {
		before, was := had[e.Path]
		fresh := !was || !before.Same(&e)
		wrote = wrote || fresh
		if old := slices.Contains(x.Last.Astray, e.Path); (fresh || old) && !covered(e.Path) {
			if x.Astray = append(x.Astray, e.Path); !old {
				x.FreshAstray = append(x.FreshAstray, e.Path)
			}
		}
	}
	if t := x.Ev.Task; !wrote && !made && t.Name == "build" && t.Astray() == plan.AstrayUnstored {
		for _, e := range after {
			if dir := path.Dir(e.Path); dir != "." && x.Tree.Ignored(dir, true) && !covered(e.Path) && !slices.Contains(x.Astray, e.Path) {
				x.UpToDate = append(x.UpToDate, e.Path)
			}
		}
	}
	return nil
}

// AstrayGlobs returns globs of outputs, relative to the dish of the task, that cover files that went
// astray: the ignored directories that they are in, else the files.
func (x *Execution) AstrayGlobs(paths []string) []string {
	var globs []string
	seen := make(map[string]bool)
	for _, p := range paths {
		g := x.globOf(x.ignoredAt(p))
		if seen[g] {
			continue
		}
		seen[g] = true
		globs = append(globs, g)
	}
	return globs
}

// ignoredAt returns the glob of the outermost ignored directory around p, or p if there is none.
func (x *Execution) ignoredAt(p string) string {
	for i := range len(p) {
		if p[i] == '/' && key.Inside(p[:i], x.Ev.Task.Dish.Path) && x.Tree.Ignored(p[:i], true) {
			return p[:i] + "/**"
		}
	}
	return p
}
