package evaluate

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/recall"
	"github.com/bentobuild/bento/internal/run/territory"
)

// recaller finds out that keys need not be made again.
type recaller struct {
	memory *recall.Memory
	sketch fingerprint.Sketch
	dishes map[*territory.Territory]recall.Range
	tasks  []recall.Range // by plan.Task.Index; see sketcher.task
	circle map[*plan.Circle]recall.Range
	// stale is set once files were looked at again: something runs, and to tell what
	// it has changed costs more than to make the keys of what is left.
	stale bool
	// tracked is the digest of what git tracks, which decides what an output is.
	tracked [32]byte
	there   []atomic.Uint32 // by plan.Task.Index: whether the cache had the record that is remembered
}

// What is known of a record that is remembered: it is asked for once.
const isAsked, isThere = 1, 2

func newRecaller(o *Options, p *plan.Plan) recaller {
	r := recaller{
		memory: recall.Open(o.State, fingerprint.Domain+o.Program), tracked: p.Workspace.Tree.TrackedDigest(),
		dishes: make(map[*territory.Territory]recall.Range), circle: make(map[*plan.Circle]recall.Range),
		there: make([]atomic.Uint32, len(p.Tasks)),
	}
	if store, ok := o.Store.(haver); ok && !o.Force {
		go ask(store, *r.memory, p.Tasks, r.there)
	}
	return r
}

// ask asks the cache for remembered records ahead of who needs to know, the last one first,
// so that the two seldom ask for the same. It counts by the place in tasks, not by
// plan.Task.Index: while it works the plan may be narrowed, which numbers them anew.
func ask(store haver, m recall.Memory, tasks []*plan.Task, there []atomic.Uint32) {
	for i, t := range slices.Backward(tasks) {
		if k, ok := m.Of(lastrun.ID(t)); ok && there[i].CompareAndSwap(0, isAsked) && store.Has(k.Key) {
			there[i].Store(isThere)
		}
	}
}

// keep remembers the results that are there for later invocations.
func (e *Evaluator) keep() {
	for i, ev := range e.results {
		made := e.made[i]
		if ev != nil && made != nil && ev.basis != (recall.Basis{}) && (ev.Status == Hit || ev.stored) {
			e.recall.memory.Keep(lastrun.ID(ev.Task), recall.Known{Basis: ev.basis, Key: ev.Key, Made: made.digest, Outputs: ev.Outputs})
		}
	}
}

// Stored notes that the cache has the result of ev now.
func (ev *Result) Stored() { ev.stored = true }

// manyUnknown is for how many bases it pays to look at all dishes again.
const manyUnknown = 64

// sketchAgain makes the bases of results that were not remembered anew: for their keys
// files were read, which the next invocation knows by their content.
func (e *Evaluator) sketchAgain(ctx context.Context) {
	unknown := slices.DeleteFunc(slices.Clone(e.results), func(ev *Result) bool {
		return ev.recalled || !ev.Known || ev.basis == recall.Basis{}
	})
	if len(unknown) < manyUnknown || e.recall.stale {
		return
	}
	clear(e.recall.circle)
	e.sketchAll()
	for _, ev := range unknown {
		ev.basis, _ = e.basisOf(ctx, ev.Task, ev)
	}
}

// Whole gives the result that ev stands for with everything that belongs to it: its
// ingredients, and the record of a hit. It may be a miss by now.
func (e *Evaluator) Whole(ctx context.Context, ev *Result) *Result {
	if !ev.recalled {
		return ev
	}
	whole := &Result{Task: ev.Task, Status: Miss}
	e.results[ev.Task.Index] = whole
	e.evaluate(ctx, whole)
	return whole
}

// Recorded is Whole for who needs no more than the record of a hit.
func (e *Evaluator) Recorded(ctx context.Context, ev *Result) *Result {
	if ev.recalled && ev.Record == nil {
		record, err := e.o.Store.Lookup(ev.Key)
		if err != nil || record.Exit != 0 {
			return e.Whole(ctx, ev)
		}
		ev.Record, ev.Outputs = record, record.Outputs
	}
	return ev
}

// haver is a store that can tell that it has a record without reading it.
type haver interface{ Has(cache.Key) bool }

// recalled makes ev the result that it was when everything that its key is made from
// was as it is now, if the cache still has the record.
func (e *Evaluator) recalled(ctx context.Context, t *plan.Task, ev *Result) bool {
	store, ok := e.o.Store.(haver)
	if !ok || e.recall.stale || e.o.Force || t.Uncached != "" || t.Fault() != nil || len(e.pending(t)) > 0 {
		return false
	}
	var known bool
	if ev.basis, known = e.basisOf(ctx, t, ev); !known {
		return false
	}
	k, ok := e.recall.memory.Of(lastrun.ID(t))
	if !ok || k.Basis != ev.basis || e.recall.there[t.Index].Swap(isAsked) != isThere && !store.Has(k.Key) {
		return false
	}
	ev.Status, ev.Key, ev.Known, ev.Outputs, ev.recalled = Hit, k.Key, true, k.Outputs, true
	e.made[t.Index] = &made{digest: k.Made}
	return true
}

// basisOf gives the digest of everything that the key of t is a function of.
func (e *Evaluator) basisOf(ctx context.Context, t *plan.Task, ev *Result) (b recall.Basis, known bool) {
	if e.recall.tasks == nil {
		e.sketchAll()
	}
	own, static := e.recall.dishes[e.territories[t.Dish]], e.recall.tasks[t.Index]
	if !own.Known || !static.Known || len(e.memory.Of(t).Found) > 0 {
		return b, false
	}
	s := &e.recall.sketch
	for _, d := range t.Sources { // those that are new take the sketch
		if !e.recall.ofCircle(e, e.circles[d]).Known {
			return b, false
		}
	}
	s.Reset()
	w := s.Writer()
	w.Raw(e.recall.tracked[:])
	w.Raw(own.Digest[:])
	w.Raw(static.Digest[:])
	for _, d := range t.Sources {
		sum := e.recall.circle[e.circles[d]].Digest
		w.Raw(sum[:])
	}
	if err := e.addToolchain(ctx, s, t, ev); err != nil {
		return b, false
	}
	e.addDeps(s, t)
	return s.Digest(), true
}

// ofCircle gives the digest of the sources of a circle of dishes, and of those that
// they are linked to.
func (r *recaller) ofCircle(e *Evaluator, c *plan.Circle) recall.Range {
	if d, ok := r.circle[c]; ok {
		return d
	}
	var parts [][32]byte
	d := recall.Range{Known: true}
	for _, member := range c.Dishes {
		own := r.dishes[e.territories[member]]
		parts = append(parts, own.Digest)
		d.Known = d.Known && own.Known
	}
	for _, l := range c.Links {
		next := r.ofCircle(e, e.circles[l])
		parts = append(parts, next.Digest)
		d.Known = d.Known && next.Known
	}
	if d.Known {
		r.sketch.Reset()
		for _, p := range parts {
			r.sketch.Writer().Raw(p[:])
		}
		d.Digest = r.sketch.Digest()
	}
	r.circle[c] = d
	return d
}
