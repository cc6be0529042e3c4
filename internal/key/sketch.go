package key

import (
	"errors"
	"io/fs"
	"path"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// sketchAll works out what can be told of dishes and tasks one by one, several at a
// time.
func (e *Evaluator) sketchAll() {
	terrs, ranges := e.concerned(), newRangeDigests(e.tree)
	begin := func() *sketcher { return &sketcher{Evaluator: e, ranges: ranges} }
	dishes := parallel.Map(terrs, begin, (*sketcher).dish)
	for i, terr := range terrs {
		terr.sketch = dishes[i]
	}
	for i, sketch := range parallel.Map(e.plan.Tasks, begin, (*sketcher).task) {
		e.nodes[i].sketch = sketch
	}
	e.remembered.circle = make(map[*plan.Circle]rangeDigest, len(dishes))
	e.remembered.ready = true
}

// concerned returns the territories of the dishes that tasks are in, and of those that
// these are linked to.
func (e *Evaluator) concerned() (list []*ownership) {
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
		if t.DefaultInputs || len(t.Inputs) > 0 {
			for _, inner := range e.territories[t.Dish].Inner() {
				add(inner.Dish)
			}
		}
		for _, d := range t.Sources {
			add(d)
		}
	}
	return list
}

// sketcher makes sketches of sets of files. It is for one goroutine.
type sketcher struct {
	*Evaluator
	writer pack.Writer
	ranges *rangeDigests
}

// dish returns the digest of the files of a dish and of what decides which of them
// count.
func (s *sketcher) dish(terr *ownership) rangeDigest {
	d := s.ranges.Of(terr.Dish.Path)
	if !d.Known {
		return d
	}
	w := &s.writer
	w.Reset()
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
	return rangeDigest{Digest: sketchFields(w), Known: true}
}

// task sketches what belongs to a task alone: its globs, and what they look at outside of
// its dish.
func (s *sketcher) task(t *plan.Task) rangeDigest {
	if len(t.OnDisk) > 0 {
		return rangeDigest{} // what git ignores is not in the tree
	}
	w := &s.writer
	w.Reset()
	w.String(t.Name)
	w.Strings(t.Inputs)
	if t.DefaultInputs {
		w.Byte(1)
	}
	if s.locks.Named(t) {
		w.Byte(2)
	}
	for _, at := range s.reach(t).Inputs {
		if !s.addRange(s.territories[t.Dish], at) {
			return rangeDigest{}
		}
	}
	for _, at := range s.reach(t).outputs { // what git tracks of them counts as well
		if Inside(at, t.Dish.Path) {
			continue
		}
		d := s.ranges.Of(at) // of what git ignores, nothing
		if w.Raw(d.Digest[:]); !d.Known {
			return rangeDigest{}
		}
	}
	return rangeDigest{Digest: sketchFields(w), Known: true}
}

// addRange adds what a glob that leads to a path may look at outside of its dish. What lies in a
// directory that git ignores, or behind a link, is unknown.
func (s *sketcher) addRange(terr *ownership, at string) bool {
	if at != "." && !s.tree.Walked(at) {
		switch {
		case s.linked(at):
			return false
		case s.tree.Ignored(at, false) || s.tree.Ignored(at, true):
			return s.addIgnored(at)
		}
	}
	if Inside(at, terr.Dish.Path) {
		return true // in the digest of the dish
	}
	d := s.ranges.Of(at)
	s.writer.String(at)
	s.writer.Raw(d.Digest[:])
	return d.Known
}

// linked reports whether a link leads to a path that was not walked.
func (s *sketcher) linked(at string) bool {
	for dir := at; dir != "." && !s.tree.Walked(dir); dir = path.Dir(dir) {
		if entry, ok := s.tree.Lookup(dir); ok && entry.Kind == tree.Link {
			return true
		}
	}
	return false
}

// addIgnored adds a path that git ignores, such as a lockfile, as it is on the disk: a file, or
// nothing.
func (s *sketcher) addIgnored(at string) bool {
	s.writer.String(at)
	e, err := tree.Stat(s.tree.Root(), at)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && addFile(&s.writer, s.tree, e)
}
