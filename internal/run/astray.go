package run

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// elsewhere returns a function that reports whether a path is an output of another task of the
// workspace, or may be made by the tools of another dish. It is safe for concurrent use, and compiles
// the globs at its first call.
func (e *engine) elsewhere(t *plan.Task) func(path string) bool {
	if t.Astray() == plan.AstrayIgnored {
		return nil
	}
	sets := sync.OnceValue(func() (sets []*tree.Set) {
		for _, d := range e.plan.Workspace.Dishes {
			for _, other := range e.plan.TasksOf(d) {
				if other.Dish == t.Dish && other.Name == t.Name || len(other.Outputs) == 0 {
					continue
				}
				if s, err := record.OutputSet(other); err == nil {
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
				for _, p := range memory.Of(other).Astray {
					paths[p] = true
				}
			}
		}
		for _, p := range memory.Of(t).Astray {
			delete(paths, p)
		}
		return paths
	})
	return func(path string) bool {
		return others()[path] || slices.ContainsFunc(sets(), func(s *tree.Set) bool { return s.Match(path) })
	}
}

// toolsOf returns the paths that the tools of d make. It returns nil if t may make them itself: it
// runs a script, and its dish has a language of the same family.
func toolsOf(d *discovery.Dish, t *plan.Task) *tree.Set {
	if d.Adapter == nil || t.RunsScript() && t.Dish.Adapter != nil && d.Adapter.Manifest().FamilyName() == t.Dish.Adapter.Manifest().FamilyName() {
		return nil
	}
	s, err := tree.CompileSet(d.Path, d.Adapter.Manifest().DerivedPaths)
	if err != nil {
		return nil
	}
	return s
}

// astray reports the files that an execution left where git ignores them and no output covers them.
// It returns those to remember, which no other task can have left: a file in another dish may be from
// a task that ran there at the same time.
func (e *engine) astray(x *execution) (own []string) {
	t := x.ev.Task
	if len(x.kept.Astray)+len(x.kept.UpToDate) == 0 {
		return nil
	}
	var unsure []string
	for _, p := range x.kept.Astray {
		if d := e.plan.Workspace.Owner(p); d != nil && d.Path != t.Dish.Path && e.ranMeanwhile(d, x.result) {
			unsure = append(unsure, p)
		} else {
			own = append(own, p)
		}
	}
	switch {
	case t.Astray() == plan.AstrayUnstored && len(own) > 0:
		e.env.warn("outputs_undeclared", fmt.Sprintf("%s left %s, which git ignores and no output covers: its result is used, and not stored", t.ID(), few(own)),
			e.outputsLine(x, own)+", or say cache = true there if nothing needs them")
	case t.Astray() == plan.AstrayUnstored && len(x.kept.UpToDate) > 0:
		e.env.warn("outputs_undeclared", fmt.Sprintf("%s wrote nothing, as %s, which git ignores and no output covers, is up to date: its result is used, and not stored", t.ID(), few(x.kept.UpToDate)),
			e.outputsLine(x, x.kept.UpToDate)+", or say cache = true there if nothing needs them")
	case t.Astray() == plan.AstrayUnstored:
		e.env.warn("outputs_undeclared", fmt.Sprintf("%s ran while tasks of other dishes did, and %s, which git ignores and no output covers, may be its own: its result is used, and not stored", t.ID(), few(unsure)),
			"run it again, when nothing else runs")
	case len(x.kept.FreshAstray) > 0:
		e.env.warn("outputs_undeclared", fmt.Sprintf("%s left %s, which git ignores and no output covers: a hit does not bring them back", t.ID(), few(x.kept.FreshAstray)),
			e.outputsLine(x, own))
	}
	return own
}

func few(paths []string) string { return diagnostics.Few(paths) }

// ranMeanwhile reports whether a task of d was executed during the execution of r.
func (e *engine) ranMeanwhile(d *discovery.Dish, r *Result) bool {
	end := r.Started.Add(r.Duration)
	return slices.ContainsFunc(e.nodes, func(n *node) bool {
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
	for _, g := range e.together(t, x.kept.AstrayGlobs(paths)) {
		globs = append(globs, strconv.Quote(g))
	}
	return fmt.Sprintf("add outputs = [%s] to %s", strings.Join(globs, ", "), t.Table())
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
	return slices.ContainsFunc(e.plan.Workspace.Dishes, func(d *discovery.Dish) bool {
		return d != t.Dish && key.Inside(d.Path, dir) && slices.ContainsFunc(e.plan.TasksOf(d), func(o *plan.Task) bool { return len(o.Outputs) > 0 })
	})
}
