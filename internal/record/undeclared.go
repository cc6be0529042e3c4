package record

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// isCache reports whether files of this name are caches or logs of tools.
func isCache(p string) bool { return key.IsCache(p) }

// ignoredNow returns the ignored files where the task may leave some, as plan.Task.MayLeaveUndeclared decides.
func (x *Execution) ignoredNow() ([]tree.Entry, error) {
	t := x.Ev.Task
	if !t.MayLeaveUndeclared() {
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
	return slices.DeleteFunc(all, func(e tree.Entry) bool {
		return isCache(e.Path) || key.IsOwn(e.Path) || x.belongsInside(e.Path)
	}), nil
}

// belongsInside reports whether p belongs to a dish inside that of the task, whose tasks may run at the
// same time. Only the tasks of a workspace's root make files of their members.
func (x *Execution) belongsInside(p string) bool {
	t := x.Ev.Task
	return t.Root == nil && slices.ContainsFunc(x.Plan.Workspace.Dishes, func(d *dish.Dish) bool {
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

// covered returns a function that reports whether an ignored path is declared: as an output or a cache of the
// task, or elsewhere. It compiles the globs of other tasks at its first call.
func (x *Execution) covered() (func(path string) bool, error) {
	leaves, err := tree.CompileSet(x.Ev.Task.Dish.Path, x.Ev.Task.Leaves)
	if err != nil {
		return nil, err
	}
	elsewhere := sync.OnceValue(x.elsewhere)
	return func(p string) bool {
		return x.set.Match(p) || x.blind || x.found[p] || leaves.Match(p) || elsewhere()(p)
	}, nil
}

// elsewhere returns a function that reports whether a path belongs to another task or dish: it is an output of a task
// of the workspace, the tools of another dish may make it, or a warning has named it for another task.
func (x *Execution) elsewhere() func(path string) bool {
	t, history := x.Ev.Task, x.History()
	var sets []*tree.Set
	left := make(map[string]bool)
	for _, d := range x.Plan.Workspace.Dishes {
		for _, other := range x.Plan.TasksOf(d) {
			for _, p := range history.Of(other).Undeclared {
				left[p] = true
			}
			if other.Dish == t.Dish && other.Name == t.Name || len(other.Outputs)+len(other.Leaves) == 0 {
				continue
			}
			if s, err := key.MadeSet(other); err == nil {
				sets = append(sets, s)
			}
		}
		if s := toolsOf(d, t); s != nil {
			sets = append(sets, s)
		}
	}
	for _, p := range history.Of(t).Undeclared {
		delete(left, p)
	}
	homes := x.homesOf(t)
	return func(path string) bool {
		return left[path] || slices.ContainsFunc(homes, func(dir string) bool { return key.Inside(path, dir) }) ||
			slices.ContainsFunc(sets, func(s *tree.Set) bool { return s.Match(path) })
	}
}

// homesOf returns the directories of the workspace, relative to it, that the environment names as a home, a
// cache or a place for temporary files of the tools of t: CI often has them below the checkout.
func (r *Recorder) homesOf(t *plan.Task) (dirs []string) {
	if t.Dish.Adapter == nil {
		return HomesIn(r.Root, r.Environ, nil)
	}
	return HomesIn(r.Root, r.Environ, t.Dish.Adapter.Manifest().PassEnv)
}

// HomesIn is homesOf for tools that see the variables passed.
func HomesIn(root string, env adapters.Environ, passed []string) (dirs []string) {
	for _, kv := range env.Select(append([]string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_*", "BENTO_CACHE_DIR"}, passed...)...) {
		_, value, _ := strings.Cut(kv, "=")
		for _, dir := range filepath.SplitList(value) {
			if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsAbs(dir) && filepath.IsLocal(rel) && rel != "." {
				dirs = append(dirs, filepath.ToSlash(rel))
			}
		}
	}
	return dirs
}

// toolsOf returns the paths that the tools of d make, and t does not make. t makes the usual outputs of
// its recipe, and if it runs a script, also what the tools of its family make in other dishes.
func toolsOf(d *dish.Dish, t *plan.Task) *tree.Set {
	if d.Adapter == nil || t.RunsScript() && d != t.Dish && t.Dish.Adapter != nil && d.Adapter.Manifest().FamilyName() == t.Dish.Adapter.Manifest().FamilyName() {
		return nil
	}
	globs := d.Adapter.Manifest().DerivedPaths
	if d == t.Dish {
		for _, g := range t.UsualOutputs() {
			if !strings.HasPrefix(g, "!") {
				globs = append(slices.Clip(globs), "!"+g)
			}
		}
	}
	s, err := tree.CompileSet(d.Path, globs)
	if err != nil {
		return nil
	}
	return s
}

// DeclareHint returns the lines for dish.toml with which undeclared files are covered.
func (x *Execution) DeclareHint(paths []string) string {
	t, undeclared := x.Ev.Task, x.globsOf(paths)
	var globs []string
	for _, o := range t.Outputs { // a list in dish.toml replaces that of the recipe
		s, err := tree.CompileSet(t.Dish.Path, []string{o.Glob})
		if err == nil && slices.ContainsFunc(x.Outputs, func(made cache.Output) bool { return s.Match(made.Path) }) {
			globs = append(globs, strconv.Quote(o.Glob))
		}
	}
	globs = append(globs, undeclared...)
	return fmt.Sprintf("add outputs = [%s] to %s, or leaves = [%s] if nothing needs them", strings.Join(globs, ", "), t.Table(), strings.Join(undeclared, ", "))
}

// globsOf returns quoted globs of outputs, relative to the dish of the task, that cover paths: the ignored
// directories that they are in, else the files.
func (x *Execution) globsOf(paths []string) (quoted []string) {
	var globs []string
	for _, p := range paths {
		if g := x.globOf(x.ignoredAt(p)); !slices.Contains(globs, g) {
			globs = append(globs, g)
		}
	}
	for _, g := range x.together(globs) {
		quoted = append(quoted, strconv.Quote(g))
	}
	return quoted
}

// together replaces the globs of directories that have the same name in sibling members by one glob,
// unless a task of such a member has outputs.
func (x *Execution) together(globs []string) []string {
	like := make(map[string][]string)
	of := func(g string) string {
		dir, ok := strings.CutSuffix(g, "/**")
		member := path.Dir(dir)
		if !ok || path.Dir(member) == "." || strings.HasPrefix(g, "//") {
			return ""
		}
		return path.Join(path.Dir(member), "*", path.Base(dir)) + "/**"
	}
	for _, g := range globs {
		like[of(g)] = append(like[of(g)], g)
	}
	var list []string
	for _, g := range globs {
		if l := of(g); l != "" && len(like[l]) > 1 && !x.makeThere(path.Dir(path.Dir(strings.TrimSuffix(g, "/**")))) {
			g = l
		}
		if !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

// makeThere reports whether a task of a dish below dir, relative to the dish of t, has outputs.
func (x *Execution) makeThere(dir string) bool {
	t := x.Ev.Task
	dir = path.Join(t.Dish.Path, dir)
	return slices.ContainsFunc(x.Plan.Workspace.Dishes, func(d *dish.Dish) bool {
		return d != t.Dish && key.Inside(d.Path, dir) && slices.ContainsFunc(x.Plan.TasksOf(d), func(o *plan.Task) bool { return len(o.Outputs) > 0 })
	})
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
