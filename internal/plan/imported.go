package plan

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// importEdges returns the edges from tasks to the tasks that make files that the sources of their dishes
// import: those to tasks of the own directory, and those to others.
func (b *builder) importEdges() (own, others []innerEdge) {
	var all *importMakers
	seen := make(map[innerEdge]bool)
	for _, d := range b.ws.Dishes {
		for i := range d.Needs {
			if all == nil {
				all = &importMakers{builder: b, makers: newMakers(b.importable()), known: make(map[string][]*Task)}
			}
			for _, e := range all.edges(d, &d.Needs[i]) {
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

// importMakers finds the tasks that make what sources import. Many sources import the same.
type importMakers struct {
	*builder
	makers *makers
	known  map[string][]*Task
}

// edges returns the edges for one import.
func (m *importMakers) edges(d *dish.Dish, e *dish.Embed) (edges []innerEdge) {
	for _, t := range m.of(e) {
		edges = append(edges, m.importEdgesTo(d, e, t)...)
	}
	return edges
}

func (m *importMakers) of(e *dish.Embed) (tasks []*Task) {
	at := "//" + Escape(e.Path) + "/" + e.Glob
	if e.Path == "." {
		at = "//" + e.Glob
	}
	tasks, known := m.known[at]
	if known {
		return tasks
	}
	if set, err := glob.Compile("", []string{at}); err == nil { // else no tool finds such a file
		for _, x := range m.makers.of(e.Path, set) {
			if m.ws.Untracked(x.task.Dish.Path, x.output) {
				tasks = append(tasks, x.task)
			}
		}
	}
	m.known[at] = tasks
	return tasks
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
func (b *builder) importEdgesTo(d *dish.Dish, e *dish.Embed, maker *Task) (edges []innerEdge) {
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
			b.took(d, Included{maker.Dish, viaOutputs, e.Pos.String()})
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
