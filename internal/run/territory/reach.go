package territory

import (
	"strings"

	"github.com/bentobuild/bento/internal/plan"
)

// Reach is where the globs of a task lead: their parts in front of the first
// wildcard, relative to the workspace.
type Reach struct {
	Inputs  []string // without negated ones
	outputs []string
	task    *plan.Task
}

// NewReach gives that of t.
func NewReach(t *plan.Task) *Reach {
	r := &Reach{task: t, Inputs: make([]string, 0, len(t.Inputs)), outputs: make([]string, 0, len(t.Outputs))}
	for _, glob := range t.Inputs {
		if !strings.HasPrefix(glob, "!") {
			r.Inputs = append(r.Inputs, Prefix(t.Dish.Path, glob))
		}
	}
	for _, o := range t.Outputs {
		r.outputs = append(r.outputs, Prefix(t.Dish.Path, o.Glob))
	}
	return r
}

// Reads tells whether the inputs of a task name an output of another: then what they
// are is known only when the other is up to date.
func (r *Reach) Reads(other *Reach) bool {
	for _, in := range r.Inputs {
		for _, out := range other.outputs {
			if out != "." && Inside(in, out) || other.task.Dish != r.task.Dish && Inside(out, in) {
				return true
			}
		}
	}
	return false
}
