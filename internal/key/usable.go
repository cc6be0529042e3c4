package key

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Usable describes what a task may use of the workspace besides the files in its key. Globs are relative to its dish,
// or to the workspace behind "//".
type Usable struct {
	Change []string // globs of what it may make, change and read: outputs, rewritten files, caches, what its tools make
	Read   []string // globs of what tools make elsewhere, such as the packages of a linked dish
	Roots  []string // the literal beginnings of Change, relative to the workspace
	Areas  []string // directories, relative to the workspace, in which it makes files of Change
	Trees  []string // likewise, directories with nothing but files of Change
	// Lenient are directories like Trees that may be missing, because only the tool makes them.
	Lenient []string
	Others  []string // directories, relative to the workspace, with nothing but files of Read
}

// Usable returns what t may use. An output that another task of a directory declares is not usable only because a tool
// may make it, too.
func (f Files) Usable(t *plan.Task) Usable {
	var u Usable
	dir := t.Dish.Path
	for _, o := range t.Outputs {
		u.change(dir, o.Glob)
	}
	for _, glob := range slices.Concat(t.Rewrites, t.Leaves) {
		u.change(dir, glob)
	}
	own := f.e.ownerships[t.Dish]
	for _, glob := range own.derived {
		if !own.declaredBy(t, prefix(dir, glob)) {
			u.change(dir, glob)
		}
	}
	f.addScope(&u, t)
	for _, d := range f.Linked(t) {
		linked := f.e.ownerships[d]
		if d.Path == dir {
			continue
		}
		for _, glob := range linked.derived {
			if at, rest := anchor(d.Path, glob); !linked.declaredBy(t, at) {
				u.Read, u.Others = append(u.Read, rest), append(u.Others, at)
			}
		}
	}
	return u
}

// change adds a glob of files that the task may change. Their directory may be removed and made again, so they are
// made in the directory around it.
func (u *Usable) change(dir, glob string) {
	u.Change = append(u.Change, glob)
	if strings.HasPrefix(glob, "!") {
		return
	}
	area := prefix(dir, glob)
	if !Inside(dir, area) {
		u.Roots = append(u.Roots, area)
		area = path.Dir(area)
	}
	if !slices.Contains(u.Areas, area) {
		u.Areas = append(u.Areas, area)
	}
}

// addScope adds what tools make in the directory in which the dependencies of the dish are installed, if it is another.
// Tools without packages of their own there, such as cargo, make directories without an install.
func (f Files) addScope(u *Usable, t *plan.Task) {
	if t.Dish.Adapter == nil {
		return
	}
	rel, err := filepath.Rel(f.e.o.Root, t.Dish.ScopeDir())
	if rel = filepath.ToSlash(rel); err != nil || rel == t.Dish.Path || !filepath.IsLocal(rel) {
		return
	}
	var own *ownership
	if list := f.e.plan.Workspace.ByPath[rel]; len(list) > 0 {
		own = f.e.ownerships[list[0]]
	}
	derived := t.Dish.Adapter.Manifest().DerivedPaths
	packages := slices.ContainsFunc(derived, func(glob string) bool { return strings.HasPrefix(glob, "**/") })
	for _, glob := range derived {
		at, rest := anchor(rel, glob)
		if own != nil && own.declaredBy(t, at) {
			continue
		}
		u.Change, u.Trees, u.Roots = append(u.Change, rest), append(u.Trees, at), append(u.Roots, at)
		if !packages && strings.HasSuffix(glob, "/**") {
			u.Lenient = append(u.Lenient, at)
		}
	}
}

// anchor returns a derived path of another directory, without what lies deeper in it: as a path relative to the workspace and
// as a glob that starts there.
func anchor(dir, glob string) (at, anchored string) {
	glob = strings.TrimPrefix(glob, "**/")
	return prefix(dir, glob), "//" + path.Join(plan.Escape(dir), glob)
}

// declaredBy reports whether another task than t declares an output that is p, or a directory around it.
func (own *ownership) declaredBy(t *plan.Task, p string) bool {
	return slices.ContainsFunc(own.Tasks, func(o *plan.Task) bool {
		return o.Place() != t.Place() && slices.ContainsFunc(o.Outputs, func(out plan.Output) bool {
			at := prefix(own.Dish.Path, out.Glob)
			return !Inside(own.Dish.Path, at) && Inside(p, at)
		})
	})
}

// UsedBy returns the dish and the task for the advice about a path of the workspace that t may not use: the task that
// makes it, nil for none, and the dish of the path, nil for none.
func (f Files) UsedBy(p string) (maker *plan.Task, owner *dish.Dish) {
	maker, _ = f.Maker(p)
	return maker, f.e.plan.Workspace.Owner(p)
}
