package evaluate

import (
	"context"
	"fmt"
	"os"
	"path"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/recall"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
)

// recaller finds out that keys need not be made again.
type recaller struct {
	memory *recall.Memory
	sketch fingerprint.Sketch
	ranges *recall.Ranges
	dishes map[*territory.Territory]recall.Range
	circle map[*plan.Circle]recall.Range
	// stale is set once files were looked at again: something runs, and to tell what
	// it has changed costs more than to make the keys of what is left.
	stale bool
	// tracked is the digest of what git tracks, which decides what an output is.
	tracked [32]byte
	there   []atomic.Bool // by plan.Task.Index: the cache had the record that is remembered
}

func newRecaller(o *Options, p *plan.Plan) recaller {
	r := recaller{
		memory: recall.Open(o.State, fingerprint.Domain+program()), tracked: p.Workspace.Tree.TrackedDigest(),
		ranges: recall.NewRanges(p.Workspace.Tree), dishes: make(map[*territory.Territory]recall.Range), circle: make(map[*plan.Circle]recall.Range),
		there: make([]atomic.Bool, len(p.Tasks)),
	}
	if store, ok := o.Store.(haver); ok && !o.Force {
		go ask(store, *r.memory, p.Tasks, r.there)
	}
	return r
}

// ask asks the cache for the records that are remembered, ahead of who needs to know.
func ask(store haver, m recall.Memory, tasks []*plan.Task, there []atomic.Bool) {
	for _, t := range tasks {
		if k, ok := m.Of(lastrun.ID(t)); ok && store.Has(k.Key) {
			there[t.Index].Store(true)
		}
	}
}

// program tells one build of bento from another: what made the keys.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	fi, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(name, fi.Size(), fi.ModTime().UnixNano())
}

// keep remembers the results that are there for later invocations.
func (e *Evaluator) keep() {
	for _, ev := range e.results {
		if ev == nil || ev.basis == (recall.Basis{}) || !ev.Known || ev.Err != nil {
			continue
		}
		if made := e.made[ev.Task.Index]; made != nil && ev.Outputs != nil {
			e.recall.memory.Keep(lastrun.ID(ev.Task), recall.Known{Basis: ev.basis, Key: ev.Key, Made: made.digest, Outputs: ev.Outputs})
		}
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

// haver is a store that can tell that it has a record without reading it.
type haver interface{ Has(cache.Key) bool }

// recalled makes ev the result that it was when everything that its key is made from
// was as it is now, if the cache still has the record.
func (e *Evaluator) recalled(ctx context.Context, t *plan.Task, ev *Result) bool {
	store, ok := e.o.Store.(haver)
	if !ok || e.recall.stale || e.o.Force || t.Uncached != "" || t.Dish.Failure != nil || len(e.pending(t)) > 0 {
		return false
	}
	var known bool
	if ev.basis, known = e.basisOf(ctx, t, ev); !known {
		return false
	}
	k, ok := e.recall.memory.Of(lastrun.ID(t))
	if !ok || k.Basis != ev.basis || !e.recall.there[t.Index].Load() && !store.Has(k.Key) {
		return false
	}
	ev.Status, ev.Key, ev.Known, ev.Outputs, ev.recalled = Hit, k.Key, true, k.Outputs, true
	e.made[t.Index] = &made{digest: k.Made}
	return true
}

// basisOf gives the digest of everything that the key of t is a function of.
func (e *Evaluator) basisOf(ctx context.Context, t *plan.Task, ev *Result) (b recall.Basis, known bool) {
	sources := make([]recall.Range, len(t.Sources))
	for i, d := range t.Sources {
		if sources[i] = e.recall.ofCircle(e, e.circles[d]); !sources[i].Known {
			return b, false
		}
	}
	terr := e.territories[t.Dish]
	own, ok := e.dishDigest(terr)
	if !ok || len(e.memory.Of(t).Found) > 0 {
		return b, false
	}
	s := &e.recall.sketch
	s.Reset()
	w := s.Writer()
	w.Raw(e.recall.tracked[:])
	w.Raw(own[:])
	for _, d := range sources {
		w.Raw(d.Digest[:])
	}
	describe(s, t)
	e.addEnv(s, t)
	if err := e.addToolchain(ctx, s, t, ev); err != nil {
		return b, false
	}
	e.addDeps(s, t)
	w.Strings(t.Inputs)
	if t.DefaultInputs {
		w.Byte(1)
	}
	if e.locks.Named(t) {
		w.Byte(2)
	}
	for _, at := range e.reach(t).Inputs {
		if !e.addRange(s, terr, at) {
			return b, false
		}
	}
	return s.Digest(), true
}

// dishDigest gives the digest of the files of a dish and of what decides which of
// them count.
func (e *Evaluator) dishDigest(terr *territory.Territory) (digest [32]byte, known bool) {
	if d, ok := e.recall.dishes[terr]; ok {
		return d.Digest, d.Known
	}
	files := e.recall.ranges.Of(terr.Dish.Path)
	d := recall.Range{Known: files.Known}
	if d.Known {
		s := &e.recall.sketch
		s.Reset()
		w := s.Writer()
		w.Raw(files.Digest[:])
		terr.Describe(w)
		e.locks.Describe(w, terr.Dish)
		for _, t := range terr.Tasks {
			for _, b := range e.memory.Of(t).ByProducts {
				w.String(t.Name)
				w.String(b.Path)
				w.Raw(b.Sum[:])
			}
		}
		d.Digest = s.Digest()
	}
	e.recall.dishes[terr] = d
	return d.Digest, d.Known
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
		sum, known := e.dishDigest(e.territories[member])
		parts = append(parts, sum)
		d.Known = d.Known && known
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

// addRange adds what a glob that leads to a path may look at outside of the dish.
// Globs that name what git ignores look at the disk, and links lead anywhere: then
// nothing is known.
func (e *Evaluator) addRange(s *fingerprint.Sketch, terr *territory.Territory, at string) bool {
	if at != "." && !e.tree.Walked(at) && e.elsewhere(at) {
		return false
	}
	if territory.Inside(at, terr.Dish.Path) {
		return true // in the digest of the dish
	}
	d := e.recall.ranges.Of(at)
	s.Writer().String(at)
	s.Writer().Raw(d.Digest[:])
	return d.Known
}

// elsewhere tells whether git ignores a path, or a link leads there.
func (e *Evaluator) elsewhere(at string) bool {
	for dir := at; dir != "."; dir = path.Dir(dir) {
		if entry, ok := e.tree.Lookup(dir); ok && entry.Kind == tree.Link {
			return true
		}
	}
	return e.tree.Ignored(at, false) || e.tree.Ignored(at, true)
}
