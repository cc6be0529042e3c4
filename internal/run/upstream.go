package run

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// upstream returns what t depends on, however far, and has made something. One that does
// not end by itself has no result, and that of one that was left as it is is not known.
func (e *engine) upstream(t *plan.Task) (list []*record.Upstream) {
	e.looks++ // no node was visited by this look yet
	var add func(of *plan.Task, keyed bool)
	add = func(of *plan.Task, keyed bool) {
		for _, d := range of.Deps {
			n := e.node(d.Task)
			if n.look == e.looks || d.Via == plan.ViaNothing {
				continue
			}
			n.look = e.looks
			inKey := keyed && d.Via == plan.ViaKey
			known := !d.Task.Persistent && n.doubt == ""
			if ev := e.keys.Of(d.Task); known && ev != nil && len(d.Task.Outputs) > 0 {
				list = append(list, e.asUpstream(n, ev.Outputs, inKey))
			}
			add(d.Task, inKey)
		}
	}
	add(t, true)
	return list
}

// asUpstream returns what is known of a task to those that depend on it: all have the same value
// as long as the task is.
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

// same reports whether two slices are one.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
