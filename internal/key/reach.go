package key

import (
	"strings"

	"github.com/bentobuild/bento/internal/plan"
)

// reach is where the globs of a task lead: their parts in front of the first
// wildcard, relative to the workspace.
type reach struct {
	Inputs  []string // without negated ones
	outputs []string
	task    *plan.Task
}

// newReach returns that of t.
func newReach(t *plan.Task) *reach {
	r := &reach{task: t, Inputs: make([]string, 0, len(t.Inputs)), outputs: make([]string, 0, len(t.Outputs))}
	for _, glob := range t.Inputs {
		if !strings.HasPrefix(glob, "!") {
			r.Inputs = append(r.Inputs, prefix(t.Dish.Path, glob))
		}
	}
	for _, o := range t.Outputs {
		r.outputs = append(r.outputs, prefix(t.Dish.Path, o.Glob))
	}
	return r
}

// Reads reports whether the inputs of a task name an output of another: then what they
// are is known only when the other is up to date. Inner says that the other's dish lies inside and
// counts: its outputs are inputs only where a glob leads into them.
func (r *reach) Reads(other *reach, inner bool) bool {
	for _, in := range r.Inputs {
		for _, out := range other.outputs {
			if out != "." && Inside(in, out) || !inner && other.task.Dish != r.task.Dish && Inside(out, in) {
				return true
			}
		}
	}
	return false
}
