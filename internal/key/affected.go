package key

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// finder finds the tasks that changes affect.
type finder struct {
	plan    *plan.Plan
	tree    *tree.Tree
	changed []string
	owners  map[*dish.Dish]*ownership
	circles map[*dish.Dish]*plan.Circle
	sources map[*plan.Circle]bool // whether a source of the circle, or of a dish that it is linked to, changed
	tasks   map[*plan.Task]bool
	history *History
}

// Affected returns the tasks of p, a plan of the workspace with these files, whose keys a change of paths may change, and their dependents.
// Paths are relative to the workspace, and may be removed by now. A directory stands for all files in
// it.
func Affected(p *plan.Plan, files *tree.Tree, history *History, changed []string) (map[*plan.Task]bool, error) {
	f := &finder{plan: p, tree: files, history: history, circles: p.Circles(), sources: make(map[*plan.Circle]bool), tasks: make(map[*plan.Task]bool)}
	f.changed = f.widen(changed)
	var err error
	if f.owners, err = newOwnerships(p.Workspace, p.TasksOf); err != nil {
		return nil, err
	}
	for _, t := range p.Tasks { // dependencies first
		if f.tasks[t], err = f.task(t); err != nil {
			return nil, err
		}
	}
	return f.tasks, nil
}

// widen adds the files of directories that changed, and the links that lead to changed paths.
func (f *finder) widen(changed []string) []string {
	all := slices.Clone(changed)
	for _, p := range changed {
		for _, e := range f.tree.Under(p) {
			all = append(all, e.Path)
		}
	}
	for found := true; found; {
		before := len(all)
		for _, e := range f.tree.Entries() {
			if e.Kind == tree.Link && !slices.Contains(all, e.Path) && f.leads(e, all) {
				all = append(all, e.Path)
			}
		}
		found = len(all) > before // other links may lead to the new ones
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// leads reports whether a link leads to one of the paths, or through one.
func (f *finder) leads(link tree.Entry, to []string) bool {
	target, err := f.tree.Readlink(link)
	if err != nil {
		return false
	}
	if path.IsAbs(target) {
		rel, err := filepath.Rel(f.tree.Root(), filepath.FromSlash(target))
		if err != nil {
			return false
		}
		target = filepath.ToSlash(rel)
	} else {
		target = path.Join(path.Dir(link.Path), target)
	}
	return slices.ContainsFunc(to, func(p string) bool { return Inside(p, target) || Inside(target, p) })
}

// task reports whether the key of t may have changed.
func (f *finder) task(t *plan.Task) (bool, error) {
	for _, d := range t.Deps {
		if d.Via != plan.ViaNothing && f.tasks[d.Task] {
			return true, nil
		}
	}
	if f.configured(t.Dish) || t.DefaultInputs && f.counted(t.Dish) {
		return true, nil
	}
	if slices.ContainsFunc(t.Sources, f.linked) || slices.ContainsFunc(f.history.Of(t).Discovered, f.discovered) {
		return true, nil
	}
	if len(t.Inputs)+len(t.OnDisk) == 0 {
		return false, nil
	}
	set, err := tree.CompileSet(t.Dish.Path, slices.Concat(t.Inputs, t.OnDisk))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(f.changed, func(p string) bool {
		return set.Match(p) && !IsOwnFile(t.Dish.Path, p)
	}), nil
}

// discovered reports whether a change may have changed a discovered input: a path, or a name in a directory.
func (f *finder) discovered(d Discovered) bool {
	return slices.ContainsFunc(f.changed, func(p string) bool { return p == d.Path || d.Use == UseNames && path.Dir(p) == d.Path })
}

// configured reports whether bento's own files, which configure a dish, changed.
func (f *finder) configured(d *dish.Dish) bool {
	return slices.ContainsFunc(f.changed, func(p string) bool {
		return p == "bento.toml" || p == "bento.plugins.lock" || p == path.Join(d.Path, "dish.toml")
	})
}

// carried reports whether a file that a link to a dish carries changed: a source, also of dishes
// inside it, or the lockfile above it.
func (f *finder) carried(d *dish.Dish) bool {
	own := f.owners[d]
	partly := partsOf(f.plan.Workspace, d)
	return slices.ContainsFunc(f.changed, func(p string) bool {
		if slices.Contains(partly, p) {
			return true
		}
		owner := own.Counts(p)
		return owner != nil && (owner == own || slices.Contains(own.Carried(), owner)) && f.source(own, owner, p)
	})
}

// counted reports whether a default input of the tasks of a dish changed. The dish.toml of an inner
// dish is one of these files here: it decides whether the files of that dish are default inputs.
func (f *finder) counted(d *dish.Dish) bool {
	own := f.owners[d]
	return slices.ContainsFunc(f.changed, func(p string) bool {
		owner := own.Counts(p)
		return owner != nil && (f.source(own, owner, p) || owner != own && path.Base(p) == "dish.toml")
	})
}

// partsOf returns the paths of the files of which keys have the part that d uses.
func partsOf(ws *dish.Workspace, d *dish.Dish) (paths []string) {
	for _, part := range d.Lock.All() {
		if p, ok := ws.Relative(part.File); ok {
			paths = append(paths, p)
		}
	}
	return paths
}

// source reports whether p, which belongs to owner, is a source for the dish of own.
func (f *finder) source(own, owner *ownership, p string) bool {
	if IsOwnFile(own.Dish.Path, p) || IsOwnFile(owner.Dish.Path, p) {
		return false
	}
	_, there := f.tree.Lookup(p)
	return !own.MayMake(p, owner) || !there || f.tree.Tracked(p) // a removed file was tracked
}

// linked reports whether what a link to a dish carries changed, or what its own links carry.
func (f *finder) linked(d *dish.Dish) bool {
	c := f.circles[d]
	changed, known := f.sources[c]
	if !known {
		changed = slices.ContainsFunc(c.Dishes, f.carried) || slices.ContainsFunc(c.Links, f.linked)
		f.sources[c] = changed
	}
	return changed
}
