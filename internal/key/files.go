package key

import (
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// sourceSet is the digest of the sources of dishes that are linked to each other
// in a circle, which is mostly one dish alone: their own sources, and the same
// of every dish outside that they are linked to.
type sourceSet struct {
	digest cache.Digest
	next   []*sourceSet
	err    error

	loaded bool // the files were read
	made   Pack // what the digest is made of
	lists  []Sources
}

// addSources adds the sources of the dishes that t is linked to.
func (e *Evaluator) addSources(b *builder, t *plan.Task, ev *Result) error {
	for _, d := range t.Sources {
		s := e.sourcesOf(d, ev.loaded)
		if s.err != nil {
			return s.err
		}
		b.Sources(d.Path, s.digest)
		ev.sources = append(ev.sources, s)
	}
	return nil
}

// sourcesOf returns the sources of d. With load their files are read, and those of the
// dishes that it is linked to.
func (e *Evaluator) sourcesOf(d *discovery.Dish, load bool) *sourceSet {
	circle := e.circles[d]
	if s := e.sources[circle]; s != nil && (s.loaded || !load) {
		return s
	}
	s := &sourceSet{}
	e.sources[circle] = s
	if !load {
		var known bool
		if s.digest, known = e.rememberedSources(circle); known {
			return s
		}
	}
	s.loaded = true
	e.readSources(circle, s)
	if s.err == nil {
		e.keepSources(circle, s)
	}
	return s
}

func (e *Evaluator) readSources(circle *plan.Circle, s *sourceSet) {
	b := e.keys.New()
	for _, member := range circle.Dishes {
		list := e.defaults(member)
		s.lists = append(s.lists, list)
		entries, _, lock := e.locks.Take(member, list.Files)
		if lock.Path != "" {
			b.Lock(lock.Path, lock.Digest)
		}
		set, err := e.contents.Set(entries)
		if err != nil {
			s.err = err
			return
		}
		// What its tasks have left there without declaring it counts for others.
		b.Files(member.Path, s.made.Add(set.Encode()))
	}
	for _, l := range circle.Links {
		next := e.sourcesOf(l, true)
		if next.err != nil {
			s.err = next.err
			return
		}
		b.Sources(l.Path, next.digest)
		s.next = append(s.next, next)
	}
	s.digest = s.made.Add(encodeIngredients(b.Ingredients()))
}

// lookedAgain forgets what was worked out from the files of d, and of the dishes inside it, which
// were looked at too. It reports whether they are others than before.
func (e *Evaluator) lookedAgain(d *discovery.Dish) (changed bool) {
	e.remembered.stale = true
	for _, d := range beside(e.plan.Workspace, d) {
		terr := e.territories[d]
		for outer := terr; outer != nil; outer = outer.outer() {
			for _, o := range beside(e.plan.Workspace, outer.Dish) {
				e.territories[o].below = nil
			}
		}
		changed = terr.lookAgain(e.tree) || changed
	}
	if changed {
		clear(e.sources)
	}
	return changed
}

// lookAgain looks for the sources of the dish again, and for those of the dishes inside it. It
// reports whether they are others than before, or were not known.
func (t *ownership) lookAgain(tr *tree.Tree) (changed bool) {
	before := t.Known()
	t.Forget()
	changed = before == nil || !slices.EqualFunc(before, t.Own(tr), func(x, y tree.Entry) bool { return x.Same(&y) })
	for _, inner := range t.nested {
		changed = t.all[inner].lookAgain(tr) || changed
	}
	return changed
}
