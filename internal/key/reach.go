package key

import (
	"strings"

	"github.com/bentobuild/bento/internal/plan"
)

// reach holds the literal prefixes of the globs of a task: their parts in front of the first
// wildcard, relative to the workspace.
type reach struct {
	Inputs  []string // without negated ones
	outputs []string
	task    *plan.Task
}

// newReach returns the reach of t.
func newReach(t *plan.Task) *reach {
	r := &reach{task: t, Inputs: make([]string, 0, len(t.Inputs)), outputs: make([]string, 0, len(t.Outputs))}
	for _, glob := range t.Inputs {
		if !strings.HasPrefix(glob, "!") {
			r.Inputs = append(r.Inputs, prefix(t.Dish.Path, glob))
		}
	}
	for _, glob := range t.OnDisk {
		r.Inputs = append(r.Inputs, prefix(".", glob))
	}
	for _, o := range t.Outputs {
		r.outputs = append(r.outputs, prefix(t.Dish.Path, o.Glob))
	}
	return r
}

// Reads reports whether the inputs of a task may include an output of another task. If so, the inputs are known only
// once the other task is up to date. inner reports whether the other's dish is inside the task's dish and its sources
// are default inputs. If so, its outputs are inputs only if a glob leads into them.
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
