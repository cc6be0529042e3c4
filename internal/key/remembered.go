package key

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
)

// remembered is what earlier invocations have found out: digests of sets of files, which
// need not be read again while their sketches are the same, and what results consist of.
type remembered struct {
	memory *digestStore
	writer pack.Writer
	below  map[*ownership]rangeDigest // with the dishes inside that count
	ready  bool                       // the dishes and tasks are sketched
	circle map[*plan.Circle]rangeDigest
	// stale is set once files were looked at again: something runs, and to sketch what
	// is left costs more than to read it.
	stale bool
	// tracked is the digest of what git tracks, which decides what an output is.
	tracked [32]byte

	asking sync.WaitGroup
	enough atomic.Bool // asking may stop
}

const asked = -1

func newRemembered(o *Options, p *plan.Plan, nodes []node) *remembered {
	r := &remembered{
		memory: openDigestStore(o.State, domain+o.Program), tracked: p.Workspace.Tree.TrackedDigest(),
		below: make(map[*ownership]rangeDigest),
	}
	if store, ok := o.Store.(asker); ok && !o.Force {
		saved, tasks := r.memory.Saved(), p.Tasks
		r.asking.Go(func() { r.ask(store, saved, tasks, nodes) })
	}
	return r
}

// ask asks the cache for remembered records before they are needed, the last one first, so
// that it seldom asks at the same time as has does.
func (r *remembered) ask(store asker, saved savedDigests, tasks []*plan.Task, nodes []node) {
	for i, t := range slices.Backward(tasks) {
		if r.enough.Load() {
			return
		}
		k := saved.Of(t.Place())
		if k == nil || k.Result.Key == (cache.Key{}) || !nodes[i].recent.CompareAndSwap(0, asked) {
			continue
		}
		if used, ok := store.Recent(k.Result.Key); ok {
			nodes[i].recent.Store(used.UnixNano())
		}
	}
}

// asker is a store that knows of a record without reading it.
type asker interface {
	Recent(cache.Key) (used time.Time, ok bool)
	Use(key cache.Key, last time.Time)
}

// has reports whether the cache has the remembered result of t, whose use it counts.
func (e *Evaluator) has(t *plan.Task, r *knownResult) bool {
	store, ok := e.o.Store.(asker)
	if !ok {
		return false
	}
	used, found := time.Unix(0, e.node(t).recent.Swap(asked)), true
	if used.UnixNano() <= 0 {
		used, found = store.Recent(r.Key)
	}
	if found {
		store.Use(r.Key, used)
	}
	return found
}

// keep remembers the results that the cache has.
func (e *Evaluator) keep() {
	for i := range e.nodes {
		n := &e.nodes[i]
		ev := n.result
		if ev != nil && n.isMade && ev.Known && (ev.Status == Hit || ev.stored) {
			e.remembered.memory.KeepResult(ev.Task.Place(), knownResult{Key: ev.Key, Made: n.made, Outputs: ev.Outputs})
		}
	}
}

// Stored notes that the cache has the result of ev now.
func (ev *Result) Stored() { ev.stored = true }

// It pays to sketch all dishes again for manyRead sets of files, or for one of manyOf.
const (
	manyRead = 64
	manyOf   = 8
)

// sketchAgain sketches again the sets that had to be read: the next invocation knows their
// files by content, which changes their sketches.
func (e *Evaluator) sketchAgain() {
	read := 0
	for _, ev := range e.results() {
		if ev.Known && ev.loaded {
			read++
		}
	}
	if read < manyRead && read*manyOf < len(e.nodes) || e.remembered.stale {
		return
	}
	clear(e.remembered.below)
	e.sketchAll()
	for _, ev := range e.results() {
		if ev.Known && ev.loaded {
			e.keepInputs(ev)
		}
	}
	for c, s := range e.sources {
		if s.loaded {
			e.keepSources(c, s)
		}
	}
}

// keepInputs remembers the inputs of ev, which were read.
func (e *Evaluator) keepInputs(ev *Result) {
	if sketch, known := e.sketchOf(ev.Task); known {
		e.remembered.memory.KeepFiles(ev.Task.Place(), knownFiles{Sketch: sketch, Digest: ev.inputsDigest, Lock: ev.lock})
	}
}

// rememberedInputs returns what is remembered of the inputs of t, nil if that does not hold
// any more.
func (e *Evaluator) rememberedInputs(t *plan.Task) *knownFiles {
	sketch, known := e.sketchOf(t)
	if !known {
		return nil
	}
	if k := e.remembered.memory.Of(t.Place()); k != nil && k.Files.Sketch == sketch {
		return &k.Files
	}
	return nil
}

// sketchOf returns the sketch of the inputs of t.
func (e *Evaluator) sketchOf(t *plan.Task) (s sketch, known bool) {
	if e.remembered.stale || len(e.memory.Of(t).Found) > 0 {
		return s, false
	}
	if !e.remembered.ready {
		e.sketchAll()
	}
	terr := e.territories[t.Dish]
	own, static := e.sketchBelow(terr), e.node(t).sketch
	if !own.Known || !static.Known {
		return s, false
	}
	w := &e.remembered.writer
	w.Reset()
	w.Raw(e.remembered.tracked[:])
	w.Raw(own.Digest[:])
	w.Raw(static.Digest[:])
	for _, inner := range terr.Inner() {
		if e.memory.Littered(inner.Dish) {
			e.describeLeft(w, t)
			break
		}
	}
	return sketchFields(w), true
}

// sketchBelow sketches a dish and the dishes inside it whose sources are among its default inputs.
func (e *Evaluator) sketchBelow(terr *ownership) rangeDigest {
	own := terr.sketch
	inner := terr.Inner()
	if len(inner) == 0 || !own.Known {
		return own
	}
	if d, known := e.remembered.below[terr]; known {
		return d
	}
	w := &e.remembered.writer
	w.Reset()
	w.Raw(own.Digest[:])
	for _, in := range inner {
		part := in.sketch
		w.Raw(part.Digest[:])
		own.Known = own.Known && part.Known
	}
	own.Digest = sketchFields(w)
	e.remembered.below[terr] = own
	return own
}

// describeLeft writes which tasks with by-products, of the dishes inside that of t, come before t.
func (e *Evaluator) describeLeft(w *pack.Writer, t *plan.Task) {
	first := t.First()
	for _, inner := range e.territories[t.Dish].Inner() {
		for _, other := range inner.Tasks {
			if first[other] && len(e.memory.Of(other).ByProducts) > 0 {
				w.String(other.Place())
			}
		}
	}
}

// circleID is the id under which the sources of a circle of dishes are remembered. No task
// has such an id.
func circleID(c *plan.Circle) string {
	return "\x00" + c.Dishes[0].Path + "\x00" + c.Dishes[0].Beside
}

// keepSources remembers the sources of a circle, which were read.
func (e *Evaluator) keepSources(c *plan.Circle, s *sourceSet) {
	if sketch, known := e.sketchOfSources(c); known {
		e.remembered.memory.KeepFiles(circleID(c), knownFiles{Sketch: sketch, Digest: s.digest})
	}
}

// rememberedSources returns the digest of the sources of a circle, if it is remembered.
func (e *Evaluator) rememberedSources(c *plan.Circle) (d cache.Digest, ok bool) {
	sketch, known := e.sketchOfSources(c)
	if !known {
		return d, false
	}
	if k := e.remembered.memory.Of(circleID(c)); k != nil && k.Files.Sketch == sketch {
		return k.Files.Digest, true
	}
	return d, false
}

func (e *Evaluator) sketchOfSources(c *plan.Circle) (s sketch, known bool) {
	if e.remembered.stale {
		return s, false
	}
	if !e.remembered.ready {
		e.sketchAll()
	}
	r := e.sketchCircle(c)
	return r.Digest, r.Known
}

// sketchCircle sketches the sources of a circle of dishes, and those of the dishes that
// they are linked to.
func (e *Evaluator) sketchCircle(c *plan.Circle) rangeDigest {
	r := e.remembered
	if d, ok := r.circle[c]; ok {
		return d
	}
	parts := make([]sketch, 0, 8) // few have more
	d := rangeDigest{Known: true}
	add := func(part rangeDigest) {
		parts = append(parts, part.Digest)
		d.Known = d.Known && part.Known
	}
	for _, member := range c.Dishes {
		add(e.territories[member].sketch)
	}
	for _, l := range c.Links {
		add(e.sketchCircle(e.circles[l]))
	}
	if d.Known {
		w := &r.writer
		w.Reset()
		w.Raw(r.tracked[:])
		writePaths(w, c.Dishes)
		writePaths(w, c.Links)
		for _, p := range parts {
			w.Raw(p[:])
		}
		d.Digest = sketchFields(w)
	}
	r.circle[c] = d
	return d
}

func writePaths(w *pack.Writer, dishes []*discovery.Dish) {
	w.Uint(uint64(len(dishes)))
	for _, d := range dishes {
		w.String(d.Path)
	}
}

// Loaded returns the result that ev stands for with all that an execution needs: the files
// that the key was made from. It may be a hit where ev was a miss, and the other way round.
func (e *Evaluator) Loaded(ctx context.Context, ev *Result) *Result {
	if ev.loaded || !ev.Known {
		return ev
	}
	whole := &Result{Task: ev.Task, Status: Miss, loaded: true}
	e.node(ev.Task).result = whole
	e.evaluate(ctx, whole)
	return whole
}

// Recorded returns the result that ev stands for with the record of a hit.
func (e *Evaluator) Recorded(ctx context.Context, ev *Result) *Result {
	if ev.Status == Hit && ev.Record == nil {
		record, err := e.o.Store.Lookup(ev.Key)
		if err != nil || record.Exit != 0 {
			return e.Loaded(ctx, ev)
		}
		ev.Record, ev.Outputs = record, record.Outputs
	}
	return ev
}
