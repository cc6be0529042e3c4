package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// namedEdges returns the edges from tasks whose inputs dish.toml names to the tasks of other dishes
// that make them.
func (b *builder) namedEdges() (edges []innerEdge) {
	var all *makers
	var reach *reachOfOutputs
	for _, d := range b.ws.Dishes {
		if d.Config == nil {
			continue
		}
		for _, t := range b.byDish[d] {
			globs := d.Config.Inputs
			for i := range d.Config.Tasks {
				if c := &d.Config.Tasks[i]; c.Name == t.Name && c.Inputs != nil {
					globs = *c.Inputs
				}
			}
			for _, g := range globs {
				if reach == nil {
					reach = newReachOfOutputs(b)
				}
				if !reach.into(d.Path, g.Text) {
					continue // true for nearly all globs: they are not compiled
				}
				if all == nil {
					all = newMakers(b.tasks)
				}
				edges = append(edges, b.madeBy(t, g, all)...)
			}
		}
	}
	return edges
}

// reachOfOutputs decides whether tasks of other dishes may make files that an input names.
type reachOfOutputs struct {
	around  map[string]bool // directories around dishes
	outside []string        // prefixes of outputs outside the dish of their task
}

func newReachOfOutputs(b *builder) *reachOfOutputs {
	r := &reachOfOutputs{around: make(map[string]bool)}
	for _, d := range b.ws.Dishes {
		for dir := d.Path; dir != "."; {
			if dir = path.Dir(dir); r.around[dir] {
				break
			}
			r.around[dir] = true
		}
	}
	for _, t := range b.tasks {
		for _, o := range t.Outputs {
			if leadsOut(o.Glob) {
				r.outside = append(r.outside, dish.Prefix(t.Dish.Path, o.Glob))
			}
		}
	}
	return r
}

// into reports whether a glob of a dish's inputs may name outputs of another dish.
func (r *reachOfOutputs) into(dish, glob string) bool {
	return leadsOut(glob) || r.around[dish] || slices.ContainsFunc(r.outside, func(prefix string) bool {
		return contains(prefix, dish) || contains(dish, prefix)
	})
}

// leadsOut reports whether a glob may match outside its dish.
func leadsOut(glob string) bool {
	return strings.HasPrefix(strings.TrimPrefix(glob, "!"), "//") || strings.Contains(glob, "..")
}

// madeBy returns the edges from t to the tasks that make files that a glob of its inputs names.
// Outputs of a dish inside its own dish are inputs only if the glob leads into them.
func (b *builder) madeBy(t *Task, g dish.Glob, all *makers) (edges []innerEdge) {
	if strings.HasPrefix(g.Text, "!") {
		return nil
	}
	set, err := glob.Compile(t.Dish.Path, []string{g.Text})
	if err != nil {
		return nil // config has reported it
	}
	at := dish.Prefix(t.Dish.Path, g.Text)
	for _, m := range all.of(at, set) {
		from := m.task.Dish
		into := m.prefix != "." && contains(m.prefix, at)
		if from.Path == t.Dish.Path || !into && contains(t.Dish.Path, from.Path) || t.dependsOn(m.task) {
			continue
		}
		b.took(t.Dish, Included{from, viaOutputs, g.Pos.String()})
		edges = append(edges, innerEdge{t, m.task})
	}
	return edges
}

func (t *Task) dependsOn(on *Task) bool {
	for _, d := range t.Deps {
		if d.Task == on {
			return true
		}
	}
	return false
}
