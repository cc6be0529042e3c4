package plan

import (
	"fmt"
	"slices"
)

// spreadUncached handles the dependants of tasks that always run, whose keys do not change with what
// they do. The outputs of such a task are in the keys of its dependants. One that declares none may
// have done anything: its dependants are not stored either, unless dish.toml says cache = true.
func (b *builder) spreadUncached() {
	if !slices.ContainsFunc(b.tasks, func(t *Task) bool { return t.Uncached != "" && !t.Persistent }) {
		return
	}
	for _, i := range graphOf(b.tasks).Order() {
		t := b.tasks[i]
		for k, d := range t.Deps {
			switch on := d.Task; {
			case on.Uncached == "" || on.Persistent || d.Via == ViaNothing:
			case len(on.Outputs) > 0:
				t.Deps[k].Via = ViaOutputs
			case t.Uncached == "" && !t.stored:
				t.Uncached = fmt.Sprintf("it depends on %s, which is never stored and declares no outputs", on.ID())
			}
		}
	}
}
