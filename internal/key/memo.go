package key

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
)

// memo remembers results of earlier invocations: the digests of sets of files, which are not
// read again while their validators are the same, and the outputs of keys.
type memo struct {
	digests *digestStore
	writer  pack.Writer
	ready   bool // the validators of dishes and tasks are computed
	circle  map[*plan.Circle]rangeDigest
	// stale is set at the first refresh: tasks run now, and new validators would cost more than
	// reading the remaining files.
	stale bool
	// tracked is the digest of the list of tracked files, which decides which files are outputs.
	tracked [32]byte
}

func newMemo(o *Options) *memo {
	return &memo{digests: openDigestStore(o.State, domain+o.Program), tracked: o.Tree.TrackedDigest()}
}

// useTracker is a store that finds a record without reading it.
type useTracker interface {
	Recent(cache.Key) bool
	Use(cache.Key)
}

// has reports whether the cache has a remembered result, and marks it as used.
func (e *Evaluator) has(r *knownResult) bool {
	store, ok := e.o.Store.(useTracker)
	if !ok || slices.Contains(e.lost, r.Key) {
		return false
	}
	found := store.Recent(r.Key)
	if found {
		store.Use(r.Key)
	}
	return found
}

// rememberResults remembers the results that the cache has.
func (e *Evaluator) rememberResults() {
	for _, ev := range e.evaluations() {
		if ev != nil && ev.isMade && ev.Known && (ev.Status == Hit || ev.stored) {
			e.memo.digests.KeepResult(ev.Task.Place(), knownResult{Key: ev.Key, Made: ev.made, Outputs: ev.Outputs})
		}
	}
}

// Stored notes that the cache has the result of ev now.
func (ev *Evaluation) Stored() { ev.stored = true }

// New validators of all dishes pay off if manyRead sets of files were read, or one set in manyOf.
const (
	manyRead = 64
	manyOf   = 8
)

// renewValidators computes the validators of the sets that were read again: the digests of their
// files are known now, and are part of the validators. If nothing was remembered, it computes them
// for the first time.
func (e *Evaluator) renewValidators() {
	read := 0
	for _, ev := range e.evaluations() {
		if ev.Known && ev.loaded {
			read++
		}
	}
	few := read < manyRead && read*manyOf < len(e.tasks) && !e.memo.digests.first
	if read == 0 || few || e.memo.stale {
		return
	}
	e.computeValidators()
	for _, ev := range e.evaluations() {
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
func (e *Evaluator) keepInputs(ev *Evaluation) {
	if sketch, known := e.validatorOf(ev.Task); known {
		e.memo.digests.KeepFiles(ev.Task.Place(), knownFiles{Validator: sketch, Digest: ev.inputsDigest, Locks: ev.locks})
	}
}

// rememberedInputs returns the remembered digest of the inputs of t, nil if it is no longer valid.
func (e *Evaluator) rememberedInputs(t *plan.Task) *knownFiles {
	sketch, known := e.validatorOf(t)
	if !known {
		return nil
	}
	if k := e.memo.digests.Of(t.Place()); k != nil && k.Files.Validator == sketch {
		return &k.Files
	}
	return nil
}

// hasValidators reports whether sets of files have validators, which it computes at the first call.
func (e *Evaluator) hasValidators() bool {
	if e.memo.stale || !e.memo.ready && e.memo.digests.first {
		return false
	}
	if !e.memo.ready {
		e.computeValidators()
	}
	return true
}

// validatorOf returns the validator of the inputs of t.
func (e *Evaluator) validatorOf(t *plan.Task) (s validator, known bool) {
	if len(e.history.Of(t).Found) > 0 || !e.hasValidators() {
		return s, false
	}
	own := e.ownerships[t.Dish]
	files, rules := own.validatorWith(own.Inner(), &e.memo.writer), e.facts(t).validator
	if !files.Known || !rules.Known {
		return s, false
	}
	w := &e.memo.writer
	w.Reset()
	w.Raw(e.memo.tracked[:])
	w.Raw(files.Digest[:])
	w.Raw(rules.Digest[:])
	for _, inner := range own.Inner() {
		if e.history.HasByProducts(inner.Dish) {
			e.describeByProducts(w, t)
			break
		}
	}
	return sumFields(w), true
}

// validatorWith returns the validator of a dish together with dishes inside it.
func (own *ownership) validatorWith(inner []*ownership, w *pack.Writer) rangeDigest {
	all := own.validator
	if len(inner) == 0 || !all.Known {
		return all
	}
	w.Reset()
	w.Raw(all.Digest[:])
	for _, in := range inner {
		part := in.validator
		w.String(in.Dish.Path)
		w.Raw(part.Digest[:])
		all.Known, all.Plain = all.Known && part.Known, all.Plain && part.Plain
	}
	all.Digest = sumFields(w)
	return all
}

// describeByProducts writes the tasks with by-products that run before t in the dishes inside t's
// dish.
func (e *Evaluator) describeByProducts(w *pack.Writer, t *plan.Task) {
	first := t.First()
	for _, inner := range e.ownerships[t.Dish].Inner() {
		for _, other := range inner.Tasks {
			if first[other] && len(e.history.Of(other).ByProducts) > 0 {
				w.String(other.Place())
			}
		}
	}
}

// circleID returns the id of the sources of a circle of dishes. No task has such an id.
func circleID(c *plan.Circle) string {
	return "\x00" + c.Dishes[0].Path + "\x00" + c.Dishes[0].Beside
}

// keepSources remembers the sources of a circle, which were read.
func (e *Evaluator) keepSources(c *plan.Circle, s *sourceSet) {
	if v := e.sourcesValidator(c); v.Known {
		e.memo.digests.KeepFiles(circleID(c), knownFiles{Validator: v.Digest, Digest: s.digest})
	}
}

// rememberedSources returns the digest of the sources of a circle, if it is remembered, and whether they
// are plain.
func (e *Evaluator) rememberedSources(c *plan.Circle) (d cache.Digest, plain, ok bool) {
	v := e.sourcesValidator(c)
	if !v.Known {
		return d, false, false
	}
	if k := e.memo.digests.Of(circleID(c)); k != nil && k.Files.Validator == v.Digest {
		return k.Files.Digest, v.Plain, true
	}
	return d, false, false
}

func (e *Evaluator) sourcesValidator(c *plan.Circle) (v rangeDigest) {
	if !e.hasValidators() {
		return v
	}
	return e.circleValidator(c)
}

// circleValidator returns the validator of the sources of a circle of dishes, and of the dishes
// that they are linked to.
func (e *Evaluator) circleValidator(c *plan.Circle) rangeDigest {
	r := e.memo
	if d, ok := r.circle[c]; ok {
		return d
	}
	parts := make([]validator, 0, 8) // few have more
	d := rangeDigest{Known: true, Plain: true}
	add := func(part rangeDigest) {
		parts = append(parts, part.Digest)
		d.Known, d.Plain = d.Known && part.Known, d.Plain && part.Plain
	}
	for _, member := range c.Dishes {
		own := e.ownerships[member]
		add(own.validatorWith(own.Carried(), &r.writer))
	}
	for _, l := range c.Links {
		add(e.circleValidator(e.circles[l]))
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
		d.Digest = sumFields(w)
	}
	r.circle[c] = d
	return d
}

func writePaths(w *pack.Writer, dishes []*dish.Dish) {
	w.Uint(uint64(len(dishes)))
	for _, d := range dishes {
		w.String(d.Path)
	}
}

// Load reads what is needed to restore or to execute the task of ev: the record of a hit, or the files of a
// miss; with files, also those of a hit. If the cache has lost the record, or if the files are not those of the
// key, it evaluates the task again, into ev: the status may change.
func (e *Evaluator) Load(ctx context.Context, ev *Evaluation, files bool) {
	if ev.Status == Hit && !files {
		if ev.Record != nil {
			return
		}
		if record, err := e.recorded(ev); err == nil {
			ev.Record, ev.Outputs = record, record.Outputs
			return
		}
	}
	if ev.loaded || !ev.Known || ev.Status == Miss && e.load(ev) {
		return
	}
	*ev = Evaluation{Task: ev.Task, visible: ev.visible, Discovered: ev.Discovered, loaded: true} // the ingredients of a hit were dropped
	e.evaluate(ctx, ev)
}
