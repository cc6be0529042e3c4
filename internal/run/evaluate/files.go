package evaluate

import (
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// sourceSet is the digest of the sources of dishes that are linked to each other
// in a circle, which is mostly one dish alone: their default inputs, and the same
// of every dish outside that they are linked to.
type sourceSet struct {
	digest cache.Digest
	made   fingerprint.Pack // what the digest is made of
	lists  []Sources
	next   []*sourceSet
	err    error
}

// addSources adds the sources of the dishes that t is linked to.
func (e *Evaluator) addSources(b *fingerprint.Builder, t *plan.Task, ev *Result) error {
	for _, d := range t.Sources {
		s := e.sourcesOf(d)
		if s.err != nil {
			return s.err
		}
		b.Sources(d.Path, s.digest)
		ev.sources = append(ev.sources, s)
	}
	return nil
}

// sourcesOf gives the sources of d.
func (e *Evaluator) sourcesOf(d *discovery.Dish) *sourceSet {
	circle := e.circles[d]
	if s := e.sources[circle]; s != nil {
		return s
	}
	s := &sourceSet{}
	e.sources[circle] = s
	b := e.keys.New()
	for _, member := range circle.Dishes {
		list := e.defaults(member)
		s.lists = append(s.lists, list)
		entries, _ := e.locks.Take(b, member, list.Files)
		set, err := e.contents.Set(entries)
		if err != nil {
			s.err = err
			return s
		}
		// What its tasks have left there without declaring it counts for others.
		b.Files(member.Path, s.made.Add(set.Encode()))
	}
	for _, l := range circle.Links {
		next := e.sourcesOf(l)
		if next.err != nil {
			s.err = next.err
			return s
		}
		b.Sources(l.Path, next.digest)
		s.next = append(s.next, next)
	}
	s.digest = s.made.Add(fingerprint.EncodeIngredients(b.Ingredients()))
	return s
}

// lookedAgain forgets what was worked out from the files of d, and tells whether
// they are others than before.
func (e *Evaluator) lookedAgain(d *discovery.Dish) (changed bool) {
	e.recall.stale = true
	terr := e.territories[d]
	before := terr.Known()
	terr.Forget()
	after := terr.Defaults(e.tree)
	if slices.EqualFunc(before, after, func(x, y tree.Entry) bool { return x.Same(&y) }) {
		return false
	}
	clear(e.sources)
	return true
}
