package plan

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// importEdges returns the edges from tasks to the tasks that make files that the sources of their dishes
// import: those to tasks of the own directory, and those to others.
func (b *builder) importEdges() (own, others []innerEdge) {
	var all *makers
	seen := make(map[innerEdge]bool)
	for _, d := range b.ws.Dishes {
		for i := range d.Needs {
			if all == nil {
				all = newMakers(b.importable())
			}
			for _, e := range b.needEdges(d, &d.Needs[i], all) {
				switch {
				case seen[e]:
				case e.build.Dish.Path == d.Path:
					own = append(own, e)
				default:
					others = append(others, e)
				}
				seen[e] = true
			}
		}
	}
	return own, others
}

// needEdges returns the edges for one import.
func (b *builder) needEdges(d *discovery.Dish, e *discovery.Embed, all *makers) (edges []innerEdge) {
	at := "//" + escape(e.Path) + "/" + e.Glob
	if e.Path == "." {
		at = "//" + e.Glob
	}
	set, err := glob.Compile("", []string{at})
	if err != nil {
		return nil // no tool finds such a file
	}
	for _, m := range all.of(e.Path, set) {
		if b.ws.Untracked(m.task.Dish.Path, m.output) {
			edges = append(edges, b.importEdgesTo(d, e, m.task)...)
		}
	}
	return edges
}

// importable returns the tasks that dish.toml has make files, without builds.
func (b *builder) importable() (list []*Task) {
	for _, t := range b.tasks {
		if t.Name != "build" && slices.ContainsFunc(t.Outputs, func(o Output) bool { return o.Declared }) {
			list = append(list, t)
		}
	}
	return list
}

// importEdgesTo returns the edges from the tasks of d that read a source to the task that makes the files
// that it imports. In one directory only lifecycle tasks read sources, and none waits for another one.
func (b *builder) importEdgesTo(d *discovery.Dish, e *discovery.Embed, maker *Task) (edges []innerEdge) {
	own := maker.Dish.Path == d.Path
	if own && maker.Lifecycle {
		return nil
	}
	for _, t := range b.byDish[d] {
		reads := t.Lifecycle || !own && t.takesIn()
		if t == maker || !reads || e.Named && t.Name == "build" || t.dependsOn(maker) || !t.readsSource(e.Pos.File) {
			continue
		}
		if !own {
			b.took(d, Taken{maker.Dish, viaOutputs, e.Pos.String()})
		}
		edges = append(edges, innerEdge{t, maker})
	}
	return edges
}

// readsSource reports whether a source is among the inputs of t.
func (t *Task) readsSource(file string) bool {
	if t.DefaultInputs {
		return !t.excludesPath(file)
	}
	set, err := glob.Compile(t.Dish.Path, slices.DeleteFunc(slices.Clone(t.Inputs), func(g string) bool { return strings.Contains(g, "..") }))
	return err != nil || set.Match(file)
}
