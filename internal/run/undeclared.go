package run

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// elsewhere returns a function that reports whether a path is an output of another task of the
// workspace, or may be made by the tools of another dish. It is safe for concurrent use, and compiles
// the globs at its first call.
func (e *engine) elsewhere(t *plan.Task) func(path string) bool {
	if !t.MayLeaveUndeclared() {
		return nil
	}
	sets := sync.OnceValue(func() (sets []*tree.Set) {
		for _, d := range e.plan.Workspace.Dishes {
			for _, other := range e.plan.TasksOf(d) {
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
		return sets
	})
	memory := e.keys.History()
	others := sync.OnceValue(func() map[string]bool { // a warning has named these already
		paths := make(map[string]bool)
		for _, d := range e.plan.Workspace.Dishes {
			for _, other := range e.plan.TasksOf(d) {
				for _, p := range memory.Of(other).Undeclared {
					paths[p] = true
				}
			}
		}
		for _, p := range memory.Of(t).Undeclared {
			delete(paths, p)
		}
		return paths
	})
	homes := e.homesOf(t)
	return func(path string) bool {
		return others()[path] || slices.ContainsFunc(homes, func(dir string) bool { return key.Inside(path, dir) }) || slices.ContainsFunc(sets(), func(s *tree.Set) bool { return s.Match(path) })
	}
}

// homesOf returns the directories of the workspace, relative to it, that the environment names as a home, a
// cache or a place for temporary files of the tools of t: CI often has them below the checkout.
func (e *engine) homesOf(t *plan.Task) (dirs []string) {
	names := []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_*"}
	if t.Dish.Adapter != nil {
		names = append(names, t.Dish.Adapter.Manifest().PassEnv...)
	}
	for _, kv := range e.env.Environ.Select(names...) {
		_, value, _ := strings.Cut(kv, "=")
		for _, dir := range filepath.SplitList(value) {
			if rel, err := filepath.Rel(e.env.Root, dir); err == nil && filepath.IsAbs(dir) && filepath.IsLocal(rel) && rel != "." {
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

// undeclared reports the files that an execution left where git ignores them and no output covers them,
// unless a warning has named all of them before. It returns those to remember, which no other task can
// have left: a file in another dish may be from a task that ran there at the same time. warned are those
// that a warning has named.
func (e *engine) undeclared(x *execution, last *key.LastRun) (own, warned []string) {
	t := x.ev.Task
	all := slices.Concat(x.kept.Undeclared, x.kept.UpToDate)
	if len(all) == 0 {
		return nil, nil
	}
	var unsure []string
	for _, p := range x.kept.Undeclared {
		if d := e.plan.Workspace.Owner(p); t.Root != nil && d != nil && d.Path != t.Dish.Path && e.ranMeanwhile(d, x.result) {
			unsure = append(unsure, p)
		} else {
			own = append(own, p)
		}
	}
	if !slices.ContainsFunc(all, func(p string) bool { return !slices.Contains(last.Warned, p) }) {
		return own, last.Warned
	}
	e.env.warn("outputs_undeclared", t.ID()+" "+e.strayed(x, own, unsure)+": its result is used, and not stored", e.undeclaredHint(x, own))
	slices.Sort(all)
	return own, all
}

// strayed returns in words what an execution left.
func (e *engine) strayed(x *execution, own, unsure []string) string {
	const which = ", which git ignores and no output covers"
	switch {
	case len(own) > 0:
		return "left " + few(own) + which
	case len(x.kept.UpToDate) > 0:
		return "wrote nothing, as " + few(x.kept.UpToDate) + which + ", is up to date"
	}
	return "ran while tasks of other dishes did, and " + few(unsure) + which + ", may be its own"
}

// undeclaredHint returns the line of dish.toml that lets the result of an execution be stored.
func (e *engine) undeclaredHint(x *execution, own []string) string {
	if len(own) == 0 {
		if own = x.kept.UpToDate; len(own) == 0 {
			return "run it again, when nothing else runs"
		}
	}
	return e.outputsLine(x, own) + ", or leaves = [" + strings.Join(e.globsOf(x, own), ", ") + "] if nothing needs them"
}

func few(paths []string) string { return diagnostics.Few(paths) }

// ranMeanwhile reports whether a task of d was executed during the execution of r.
func (e *engine) ranMeanwhile(d *dish.Dish, r *Result) bool {
	end := r.Started.Add(r.Duration)
	return slices.ContainsFunc(e.nodes, func(n node) bool {
		switch {
		case n.task.Dish.Path != d.Path:
			return false
		case n.result == nil:
			return n.cancel != nil
		}
		o := n.result
		return o.Attempts > 0 && o.Started.Before(end) && o.Started.Add(o.Duration).After(r.Started)
	})
}

// outputsLine returns the hint for dish.toml: the line that covers paths.
func (e *engine) outputsLine(x *execution, paths []string) string {
	t := x.ev.Task
	var globs []string
	for _, o := range t.Outputs { // a list in dish.toml replaces that of the recipe
		s, err := tree.CompileSet(t.Dish.Path, []string{o.Glob})
		if err == nil && slices.ContainsFunc(x.kept.Outputs, func(made cache.Output) bool { return s.Match(made.Path) }) {
			globs = append(globs, strconv.Quote(o.Glob))
		}
	}
	globs = append(globs, e.globsOf(x, paths)...)
	return fmt.Sprintf("add outputs = [%s] to %s", strings.Join(globs, ", "), t.Table())
}

// globsOf returns quoted globs that cover paths.
func (e *engine) globsOf(x *execution, paths []string) (globs []string) {
	for _, g := range e.together(x.ev.Task, x.kept.UndeclaredGlobs(paths)) {
		globs = append(globs, strconv.Quote(g))
	}
	return globs
}

// together replaces the globs of directories that have the same name in sibling members by one glob,
// unless a task of such a member has outputs.
func (e *engine) together(t *plan.Task, globs []string) []string {
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
		if l := of(g); l != "" && len(like[l]) > 1 && !e.makeThere(t, path.Dir(path.Dir(strings.TrimSuffix(g, "/**")))) {
			g = l
		}
		if !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

// makeThere reports whether a task of a dish below dir, relative to the dish of t, has outputs.
func (e *engine) makeThere(t *plan.Task, dir string) bool {
	dir = path.Join(t.Dish.Path, dir)
	return slices.ContainsFunc(e.plan.Workspace.Dishes, func(d *dish.Dish) bool {
		return d != t.Dish && key.Inside(d.Path, dir) && slices.ContainsFunc(e.plan.TasksOf(d), func(o *plan.Task) bool { return len(o.Outputs) > 0 })
	})
}
