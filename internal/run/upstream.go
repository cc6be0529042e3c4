package run

import (
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// upstream returns what t depends on, however far, and has made something. One that does
// not end by itself has no result, and that of one that was left as it is is not known.
func (e *engine) upstream(t *plan.Task) (list []record.Upstream) {
	seen := make(map[*plan.Task]bool)
	var add func(of *plan.Task, keyed bool)
	add = func(of *plan.Task, keyed bool) {
		for _, d := range of.Deps {
			if seen[d.Task] || d.Via == plan.ViaNothing {
				continue
			}
			seen[d.Task] = true
			inKey := keyed && d.Via == plan.ViaKey
			known := !d.Task.Persistent && e.node(d.Task).doubt == ""
			if ev := e.keys.Of(d.Task); known && ev != nil && len(d.Task.Outputs) > 0 {
				u := record.Upstream{Task: d.Task, Outputs: ev.Outputs}
				if inKey {
					u.Found = e.keys.Memory().Of(d.Task).Found
				}
				list = append(list, u)
			}
			add(d.Task, inKey)
		}
	}
	add(t, true)
	return list
}
