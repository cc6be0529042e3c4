package record

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// A file goes astray when a task leaves it where git ignores it and no output covers it: a hit
// would not restore it after it was removed. plan.Task.MayGoAstray decides where bento looks.

// passedOver are names of directories and files in which tools keep downloads and caches.
var passedOver = [...]string{
	"node_modules", ".venv", "venv", ".bundle", ".yarn", ".pnpm-store", ".gradle", ".tox", ".nox", "__pycache__", "__pypackages__",
	".cache", ".parcel-cache", ".turbo", ".nx", ".wireit", ".moon", ".eslintcache", ".stylelintcache", ".mypy_cache", ".pytest_cache",
	".ruff_cache", ".hypothesis", ".phpunit.cache", ".swc", ".vite", ".angular", ".DS_Store", ".idea", ".vscode", ".git", ".bento",
}

// isCache reports whether files of this name are caches or logs of tools.
func isCache(p string) bool {
	name := path.Base(p)
	if slices.Contains(passedOver[:], name) {
		return true
	}
	for _, end := range [...]string{".tsbuildinfo", ".pyc", ".cache", ".log"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, "cache")
}

// ignoredNow returns the ignored files where the task may leave some.
func (x *Execution) ignoredNow() ([]tree.Entry, error) {
	t := x.Ev.Task
	if !t.MayGoAstray() {
		return nil, nil
	}
	var all []tree.Entry
	for _, dir := range append([]string{t.Dish.Path}, t.Near...) {
		list, err := x.Tree.IgnoredNow(dir, func(dir string) bool { return !isCache(dir) && !key.IsOwn(dir) && !x.isTagged(dir) })
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return slices.DeleteFunc(all, func(e tree.Entry) bool { return isCache(e.Path) || key.IsOwn(e.Path) || x.belongsInside(e.Path) }), nil
}

// belongsInside reports whether p belongs to a dish inside that of the task, whose tasks may run at the
// same time. Only the tasks of a workspace's root make files of their members.
func (x *Execution) belongsInside(p string) bool {
	t := x.Ev.Task
	return t.Root == nil && slices.ContainsFunc(x.Dishes, func(d *dish.Dish) bool {
		return len(d.Path) > len(t.Dish.Path) && key.Inside(d.Path, t.Dish.Path) && key.Inside(p, d.Path) && d.Path != t.Dish.Path
	})
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
	leaves, err := tree.CompileSet(x.Ev.Task.Dish.Path, x.Ev.Task.Leaves)
	if err != nil {
		return err
	}
	covered := func(p string) bool {
		return x.set != nil && x.set.Match(p) || leaves.Match(p) || x.Elsewhere != nil && x.Elsewhere(p)
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
		if (fresh || slices.Contains(x.Last.Astray, e.Path)) && !covered(e.Path) {
			x.Astray = append(x.Astray, e.Path)
		}
	}
	if !wrote && !made && x.Ev.Task.MayBeUpToDate() {
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
		if p[i] == '/' && x.isOfTask(p[:i]) && x.Tree.Ignored(p[:i], true) {
			return p[:i] + "/**"
		}
	}
	return p
}

// isOfTask reports whether the directory dir lies in the dish of the task, or is, or lies in, a directory
// that its command names.
func (x *Execution) isOfTask(dir string) bool {
	t := x.Ev.Task
	return key.Inside(dir, t.Dish.Path) || slices.ContainsFunc(t.Near, func(near string) bool { return key.Inside(dir, near) })
}
