package run

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// upstream returns the direct and indirect dependencies of t that have outputs. It leaves out
// persistent tasks, which have no result, and tasks whose outputs may not match their keys.
func (e *engine) upstream(t *plan.Task) (list []*record.Upstream) {
	e.visits++ // no node was visited by this call yet
	var add func(of *plan.Task, keyed bool)
	add = func(of *plan.Task, keyed bool) {
		for _, d := range of.Deps {
			n := e.node(d.Task)
			if n.visited == e.visits || d.Via == plan.ViaNothing {
				continue
			}
			n.visited = e.visits
			inKey := keyed && d.Via == plan.ViaKey
			known := !d.Task.Persistent && n.unsure == ""
			if known && n.ev != nil && d.Task.HasOutputs() {
				list = append(list, e.asUpstream(n, n.ev.Outputs, inKey))
			}
			add(d.Task, inKey)
		}
	}
	add(t, true)
	return list
}

// asUpstream returns a task as its dependents see it. All dependents get the same value while the
// task has the same outputs.
func (e *engine) asUpstream(n *node, outputs []cache.Output, inKey bool) *record.Upstream {
	at := &n.upstream[0]
	if inKey {
		at = &n.upstream[1]
	}
	u := record.Upstream{Task: n.task, Outputs: outputs}
	if inKey {
		u.Found = e.keys.History().Of(n.task).Found
	}
	if *at == nil || !same((*at).Outputs, u.Outputs) || !same((*at).Found, u.Found) {
		*at = &u
	}
	return *at
}

// same reports whether two slices share their memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
