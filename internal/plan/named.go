package plan

import (
	"strings"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// namedEdges returns the edges from tasks whose inputs dish.toml names to the tasks of other dishes
// that make them.
func (b *builder) namedEdges() (edges []innerEdge) {
	var all *makers
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
			if all == nil && len(globs) > 0 {
				all = newMakers(b.tasks)
			}
			for _, g := range globs {
				edges = append(edges, b.madeBy(t, g, all)...)
			}
		}
	}
	return edges
}

// madeBy returns the edges from t to the tasks that make what a glob of its inputs names. Outputs of
// a dish inside its own are inputs only if the glob leads into them.
func (b *builder) madeBy(t *Task, g config.Glob, all *makers) (edges []innerEdge) {
	if strings.HasPrefix(g.Text, "!") {
		return nil
	}
	set, err := glob.Compile(t.Dish.Path, []string{g.Text})
	if err != nil {
		return nil // config has reported it
	}
	at := prefixOf(t.Dish.Path, g.Text)
	for _, m := range all.of(at, set) {
		from := m.task.Dish
		into := m.prefix != "." && contains(m.prefix, at)
		if from.Path == t.Dish.Path || !into && contains(t.Dish.Path, from.Path) || t.dependsOn(m.task) {
			continue
		}
		b.took(t.Dish, Taken{from, viaOutputs, g.Pos.String()})
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
