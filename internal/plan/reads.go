package plan

import "slices"

// addReads makes tasks depend on those whose outputs they were seen to read, unless that closes a cycle. A place
// without a task, which was renamed or removed, has no effect.
func (b *builder) addReads(reads map[string][]string) {
	if len(reads) == 0 {
		return
	}
	at := make(map[string]*Task, len(b.tasks))
	for _, t := range b.tasks {
		at[t.Place()] = t
	}
	var edges []innerEdge
	for _, t := range b.tasks {
		for _, place := range reads[t.Place()] {
			if on := at[place]; on != nil && on != t && on.MayBeRead() && !slices.ContainsFunc(t.Deps, func(d Dep) bool { return d.Task == on && d.Via != ViaNothing }) {
				edges = append(edges, innerEdge{t, on})
			}
		}
	}
	for _, e := range b.acyclic(edges) {
		e.task.Deps = slices.DeleteFunc(e.task.Deps, func(d Dep) bool { return d.Task == e.build })
		e.task.Deps = append(e.task.Deps, Dep{Task: e.build, Via: ViaOutputs, Seen: true})
	}
}

// MayBeRead reports whether other tasks may wait for the outputs of t: it ends by itself.
func (t *Task) MayBeRead() bool { return !t.Persistent && !t.Interactive && t.HasOutputs() }

// Declares reports whether t depends on on, directly or not, without what it was seen to read itself.
func (t *Task) Declares(on *Task) bool {
	return slices.ContainsFunc(t.Deps, func(d Dep) bool { return !d.Seen && d.Via != ViaNothing && (d.Task == on || d.Task.Needs(on)) })
}

// Follows reports whether t runs after on, without what it was seen to read itself.
func (t *Task) Follows(on *Task) bool {
	return slices.ContainsFunc(t.Deps, func(d Dep) bool { return !d.Seen && (d.Task == on || d.Task.Needs(on)) })
}

// Needs reports whether t depends on on, directly or not.
func (t *Task) Needs(on *Task) bool {
	seen := make(map[*Task]bool)
	var leads func(t *Task) bool
	leads = func(t *Task) bool {
		seen[t] = true
		return slices.ContainsFunc(t.Deps, func(d Dep) bool { return d.Task == on || !seen[d.Task] && leads(d.Task) })
	}
	return leads(t)
}
