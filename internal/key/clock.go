package key

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// clock orders the evaluations of a run and the changes that may invalidate them. It counts changes,
// not time. Its zero value is the start of a run.
type clock struct {
	now     int
	wrote   int    // when files were last written
	ran     int    // when a task was last executed
	sources places // directories of the dishes whose sources have changed
	written places // files, and directories in which any file may have been written
	// unseen are the directories of restores since the tree was last refreshed.
	unseen []string
	// looked says when the directory of a dish was last looked at.
	looked map[string]int
}

// tick advances the clock for a change and returns its time, which is later than every evaluation so
// far.
func (c *clock) tick() int {
	c.now++
	return c.now
}

// places are paths with the times when something was last written there.
type places struct {
	at    map[string]int
	below map[string]int // by path: the last write to it or below it
}

// note notes that something was written at paths.
func (p *places) note(now int, paths []string) {
	if p.at == nil {
		p.at, p.below = make(map[string]int), make(map[string]int)
	}
	for _, at := range paths {
		p.at[at] = now
		for ; ; at = path.Dir(at) {
			p.below[at] = now
			if at == "." {
				break
			}
		}
	}
}

// since reports whether something was written later than then at a path, below it, or to a directory
// around it.
func (p *places) since(then int, at string) bool {
	if p.below[at] > then {
		return true
	}
	for ; ; at = path.Dir(at) {
		if p.at[at] > then {
			return true
		}
		if at == "." {
			return false
		}
	}
}

// write notes that files at paths, or below them, may have been written.
func (c *clock) write(paths ...string) {
	c.wrote = c.tick()
	c.written.note(c.wrote, paths)
}

// looked notes that the tree below the dish of t is as it is on disk.
func (e *Evaluator) looked(t *plan.Task) {
	if e.clock.looked == nil {
		e.clock.looked = make(map[string]int)
	}
	e.clock.looked[t.Dish.Path] = e.clock.now
}

// follows reports whether a direct dependency in another dish was executed since the dish of ev was last read, and
// declares no outputs. If ev is no hit, that dependency has probably written to its inputs.
func (e *Evaluator) follows(ev *Evaluation) bool {
	t := ev.Task
	return e.clock.ran > e.clock.looked[t.Dish.Path] && slices.ContainsFunc(t.Deps, func(d plan.Dep) bool {
		on := e.last(d.Task)
		return on != nil && on.executed && d.Task.Dish != t.Dish && (ev.Status == Hit || !d.Task.HasOutputs())
	})
}

// lookAgain refreshes the tree below the dish of ev's task if a task may have written there since it was
// last looked at, and reports whether ev may be outdated. A task that will be executed has its inputs
// looked at once more after it, and if one has changed its result is not stored: so new files are enough.
func (e *Evaluator) lookAgain(ctx context.Context, ev *Evaluation) bool {
	t, at := ev.Task, ev.Task.Dish.Path
	follows := e.follows(ev)
	if !follows && (ev.Status != Miss || t.Held || e.clock.ran <= e.clock.looked[at]) {
		return false
	}
	e.looked(t)
	if !follows && !e.tree.Altered(at) {
		return false
	}
	before := Files{e}.Sources(t)
	e.clock.write(at)
	e.refresh(ctx, []string{at})
	if e.forgetSources(t.Dish) {
		e.warnAppeared(t, before)
	}
	return true
}

// warnAppeared warns of sources of the dish of t that were not among those before.
func (e *Evaluator) warnAppeared(t *plan.Task, before []tree.Entry) {
	var fresh []string
	for _, entry := range FilesOf(e).Sources(t) {
		if !has(before, entry.Path) {
			fresh = append(fresh, entry.Path)
		}
	}
	if len(fresh) > 0 {
		e.warn("by_products", fmt.Sprintf("files that no task declares appeared in the dish of %s while other tasks ran, and are inputs of it: %s", t.ID(), diagnostics.Few(fresh)),
			"if a task makes them, declare them there in workspace_outputs, and let "+t.ID()+" depend on it")
	}
}

// catchUp refreshes the tree where something was restored.
func (e *Evaluator) catchUp(ctx context.Context) {
	if len(e.clock.unseen) > 0 {
		e.refresh(ctx, e.clock.unseen)
		e.clock.unseen, e.memo.stale = nil, true
	}
}

// noteKey notes a new key of ev.
func (e *Evaluator) noteKey(ev *Evaluation) {
	if ev.lastKey != (cache.Key{}) && ev.lastKey != ev.Key {
		ev.changed = e.clock.tick()
	}
	ev.lastKey = ev.Key
}

// setMade notes the digest of the outputs of the task of ev.
func (e *Evaluator) setMade(ev *Evaluation, d cache.Digest) {
	if ev.isMade && ev.made != d {
		ev.changed = e.clock.tick()
	}
	ev.made, ev.isMade = d, true
}

// Outdated reports whether Renew may return another evaluation than ev, the last one of its task; nil if
// there is none.
func (e *Evaluator) Outdated(ev *Evaluation) bool { return ev == nil || e.isStale(ev) || e.follows(ev) }

// isStale reports whether a task has to be evaluated again: it waited for a dependency, the key or the outputs of a
// dependency have changed, sources in its key have changed, or another file that it reads may have been written.
func (e *Evaluator) isStale(ev *Evaluation) bool {
	switch {
	case ev.Reason == MissPending:
		return true
	case ev.at == e.clock.now:
		return false
	}
	for _, d := range ev.Task.Deps {
		if on := e.last(d.Task); d.Via != plan.ViaNothing && on != nil && on.changed > ev.at {
			return true
		}
	}
	return e.sourcesChanged(ev) || e.clock.wrote > ev.at && e.mayRead(ev)
}

// sourcesChanged reports whether sources that may be in the key of ev have changed since. They are the sources of the
// task's dish, of dishes around and inside it, of those that it is linked to or waits for, and files among outputs or
// of which the key has a part.
func (e *Evaluator) sourcesChanged(ev *Evaluation) bool {
	since := func(p string) bool { return e.clock.sources.since(ev.at, p) }
	if !since(".") {
		return false
	}
	if slices.ContainsFunc(ev.Discovered, func(d Discovered) bool { return since(d.Path) }) {
		return true
	}
	t := ev.Task
	tasks, dishes := []*plan.Task{t}, append(Files{e}.Linked(t), t.Dish)
	for _, d := range t.Deps {
		tasks, dishes = append(tasks, d.Task), append(dishes, d.Task.Dish)
	}
	return slices.ContainsFunc(dishes, func(d *dish.Dish) bool {
		return since(d.Path) || slices.ContainsFunc(partsOf(e.plan.Workspace, d), since)
	}) || slices.ContainsFunc(tasks, func(t *plan.Task) bool { return slices.ContainsFunc(e.reach(t).outputs, since) })
}

// mayRead reports whether inputs of ev's task that are no sources may have been written since: files
// that a glob leads to, files found among its outputs, and targets of links. A glob also leads to the
// files by which an adapter finds its dishes: after an execution there or around them, the toolchain
// may differ.
func (e *Evaluator) mayRead(ev *Evaluation) bool {
	t := ev.Task
	since := func(p string) bool { return e.clock.written.since(ev.at, p) }
	if slices.ContainsFunc(e.reach(t).Inputs, since) || slices.ContainsFunc(e.history.Of(t).Found, since) ||
		slices.ContainsFunc(ev.Discovered, func(d Discovered) bool { return since(d.Path) }) {
		return true
	}
	entries := ev.Entries
	if !ev.loaded {
		var err error
		if entries, err = e.inputs(t); err != nil {
			return true
		}
	}
	return slices.ContainsFunc(entries, isLink) || slices.ContainsFunc(t.Sources, func(d *dish.Dish) bool { return e.haveLinks(e.circles[d]) })
}

func isLink(entry tree.Entry) bool { return entry.Kind == tree.Link }

// haveLinks reports whether links are among the sources of a circle of dishes, or of the dishes that
// it is linked to.
func (e *Evaluator) haveLinks(c *plan.Circle) bool {
	if has, known := e.withLinks[c]; known {
		return has
	}
	has := slices.ContainsFunc(c.Dishes, func(d *dish.Dish) bool {
		return slices.ContainsFunc(e.ownerships[d].Load(e.tree), isLink)
	}) || slices.ContainsFunc(c.Links, func(d *dish.Dish) bool { return e.haveLinks(e.circles[d]) })
	e.withLinks[c] = has
	return has
}
