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

// clock orders the evaluations of a run and the events that may change keys afterwards. It counts
// changes, not time. Its zero value is the start of a run.
type clock struct {
	now      int
	wrote    int    // when a task was last executed or restored
	ran      int    // when a task was last executed
	executed places // directories in which an executed task may have written any file
	restored places // where outputs were restored
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

// executed notes that a task was executed that may have written to dirs.
func (e *Evaluator) executed(dirs []string) {
	e.clock.wrote = e.clock.tick()
	e.clock.ran = e.clock.wrote
	e.clock.executed.note(e.clock.wrote, dirs)
}

// looked notes that the tree below the dish of t is as it is on disk.
func (e *Evaluator) looked(t *plan.Task) {
	if e.clock.looked == nil {
		e.clock.looked = make(map[string]int)
	}
	e.clock.looked[t.Dish.Path] = e.clock.now
}

// LookAgain refreshes the tree below the dish of t if a task may have written there since it was last looked
// at: if it has made or removed a file there or, with files, in any case. It reports whether the sources of a
// dish have changed.
func (e *Evaluator) LookAgain(ctx context.Context, t *plan.Task, files bool) (changed bool) {
	at := t.Dish.Path
	if e.clock.ran <= e.clock.looked[at] {
		return false
	}
	e.looked(t)
	if !files && !e.tree.Altered(at) {
		return false
	}
	before := e.Sources(t)
	e.clock.wrote = e.clock.tick()
	e.clock.executed.note(e.clock.wrote, []string{at})
	e.refresh(ctx, []string{at})
	if changed = e.forgetSources(t.Dish); changed {
		e.warnAppeared(t, before)
	}
	return changed
}

// warnAppeared warns of sources of the dish of t that were not among those before.
func (e *Evaluator) warnAppeared(t *plan.Task, before []tree.Entry) {
	var fresh []string
	for _, entry := range e.Sources(t) {
		if _, had := find(before, entry.Path); !had {
			fresh = append(fresh, entry.Path)
		}
	}
	if len(fresh) > 0 {
		e.warn("by_products", fmt.Sprintf("files that no task declares appeared in the dish of %s while other tasks ran, and are inputs of it: %s", t.ID(), diagnostics.Few(fresh)),
			"if a task makes them, declare them there in workspace_outputs, and let "+t.ID()+" depend on it")
	}
}

// Restored notes that outputs of t in its dish were restored.
func (e *Evaluator) Restored(t *plan.Task) {
	e.clock.wrote = e.clock.tick()
	e.clock.restored.note(e.clock.wrote, e.reach(t).outputs)
	e.clock.unseen = append(e.clock.unseen, t.Dish.Path)
}

// catchUp refreshes the tree where something was restored.
func (e *Evaluator) catchUp(ctx context.Context) {
	if len(e.clock.unseen) > 0 {
		e.refresh(ctx, e.clock.unseen)
		e.clock.unseen, e.memo.stale = nil, true
	}
}

// noteKey notes the key of t.
func (e *Evaluator) noteKey(t *plan.Task, k cache.Key) {
	n := e.node(t)
	if n.key != (cache.Key{}) && n.key != k {
		n.changed = e.clock.tick()
	}
	n.key = k
}

// setMade notes the digest of the outputs of a task.
func (e *Evaluator) setMade(n *node, d cache.Digest) {
	if n.isMade && n.made != d {
		n.changed = e.clock.tick()
	}
	n.made, n.isMade = d, true
}

// Holds reports whether the key of ev is still valid, unless the sources of a dish have changed: its
// dependencies have the same keys and outputs, and nothing was executed or restored where the task
// reads files that are no sources.
func (e *Evaluator) Holds(ev *Evaluation) bool {
	if ev.at == e.clock.now {
		return true
	}
	for _, d := range ev.Task.Deps {
		if d.Via != plan.ViaNothing && e.node(d.Task).changed > ev.at {
			return false
		}
	}
	return e.clock.wrote <= ev.at || !e.mayRead(ev)
}

// mayRead reports whether inputs of ev's task that are no sources may have been written since: files
// that a glob leads to, files found among its outputs, and targets of links. A glob also leads to the
// files by which an adapter finds its dishes: after an execution there or around them, the toolchain
// may differ.
func (e *Evaluator) mayRead(ev *Evaluation) bool {
	t := ev.Task
	executed := func(p string) bool { return e.clock.executed.since(ev.at, p) }
	wrote := func(p string) bool { return executed(p) || e.clock.restored.since(ev.at, p) }
	if slices.ContainsFunc(e.reach(t).Inputs, wrote) || slices.ContainsFunc(e.history.Of(t).Found, executed) {
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
	if has, known := e.linked[c]; known {
		return has
	}
	has := slices.ContainsFunc(c.Dishes, func(d *dish.Dish) bool {
		return slices.ContainsFunc(e.ownerships[d].Load(e.tree), isLink)
	}) || slices.ContainsFunc(c.Links, func(d *dish.Dish) bool { return e.haveLinks(e.circles[d]) })
	e.linked[c] = has
	return has
}
