package evaluate

import (
	"path"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/recall"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/tree/crew"
)

// sketchAll works out what can be told of dishes and tasks one by one, several at a
// time.
func (e *Evaluator) sketchAll() {
	terrs, ranges := e.concerned(), recall.NewRanges(e.tree)
	begin := func() *sketcher { return &sketcher{Evaluator: e, ranges: ranges} }
	dishes := crew.Map(terrs, begin, (*sketcher).dish)
	for i, terr := range terrs {
		e.recall.dishes[terr] = dishes[i]
	}
	e.recall.tasks = crew.Map(e.plan.Tasks, begin, (*sketcher).task)
}

// concerned gives the territories of the dishes that tasks are in, and of those that
// these are linked to.
func (e *Evaluator) concerned() (list []*territory.Territory) {
	seen := make(map[*plan.Circle]bool)
	var add func(d *discovery.Dish)
	add = func(d *discovery.Dish) {
		c := e.circles[d]
		if seen[c] {
			return
		}
		seen[c] = true
		for _, member := range c.Dishes {
			list = append(list, e.territories[member])
		}
		for _, l := range c.Links {
			add(l)
		}
	}
	for _, t := range e.plan.Tasks {
		add(t.Dish)
		for _, d := range t.Sources {
			add(d)
		}
	}
	return list
}

// sketcher makes digests of what keys are functions of. It is for one goroutine.
type sketcher struct {
	*Evaluator
	sketch fingerprint.Sketch
	ranges *recall.Ranges
}

// dish gives the digest of the files of a dish and of what decides which of them
// count.
func (s *sketcher) dish(terr *territory.Territory) recall.Range {
	d := s.ranges.Of(terr.Dish.Path)
	if !d.Known {
		return d
	}
	s.sketch.Reset()
	w := s.sketch.Writer()
	w.Raw(d.Digest[:])
	terr.Describe(w)
	s.locks.Describe(w, terr.Dish)
	for _, t := range terr.Tasks {
		for _, b := range s.memory.Of(t).ByProducts {
			w.String(t.Name)
			w.String(b.Path)
			w.Raw(b.Sum[:])
		}
	}
	return recall.Range{Digest: s.sketch.Digest(), Known: true}
}

// task gives the digest of what belongs to a task alone: what it is, its environment,
// and what its globs look at outside of its dish.
func (s *sketcher) task(t *plan.Task) recall.Range {
	s.sketch.Reset()
	w := s.sketch.Writer()
	describe(&s.sketch, t)
	s.addEnv(&s.sketch, t)
	w.Strings(t.Inputs)
	if t.DefaultInputs {
		w.Byte(1)
	}
	if s.locks.Named(t) {
		w.Byte(2)
	}
	for _, at := range s.reach(t).Inputs {
		if !s.addRange(s.territories[t.Dish], at) {
			return recall.Range{}
		}
	}
	for _, o := range t.Outputs { // what git tracks of them counts as well
		at := territory.Prefix(t.Dish.Path, o.Glob)
		if territory.Inside(at, t.Dish.Path) {
			continue
		}
		d := s.ranges.Of(at) // of what git ignores, nothing
		if w.Raw(d.Digest[:]); !d.Known {
			return recall.Range{}
		}
	}
	return recall.Range{Digest: s.sketch.Digest(), Known: true}
}

// addRange adds what a glob that leads to a path may look at outside of the dish.
// Globs that name what git ignores look at the disk, and links lead anywhere: then
// nothing is known.
func (s *sketcher) addRange(terr *territory.Territory, at string) bool {
	if at != "." && !s.tree.Walked(at) && s.elsewhere(at) {
		return false
	}
	if territory.Inside(at, terr.Dish.Path) {
		return true // in the digest of the dish
	}
	d := s.ranges.Of(at)
	s.sketch.Writer().String(at)
	s.sketch.Writer().Raw(d.Digest[:])
	return d.Known
}

// elsewhere tells whether git ignores a path that was not walked, or a link leads there.
func (s *sketcher) elsewhere(at string) bool {
	for dir := at; dir != "." && !s.tree.Walked(dir); dir = path.Dir(dir) {
		if entry, ok := s.tree.Lookup(dir); ok && entry.Kind == tree.Link {
			return true
		}
	}
	return s.tree.Ignored(at, false) || s.tree.Ignored(at, true)
}
