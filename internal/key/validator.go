package key

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// computeValidators computes the validators of dishes and tasks, several at a time.
func (e *Evaluator) computeValidators() {
	owned, ranges := e.neededDishes(), newRangeDigests(e.tree)
	begin := func() *validatorMaker { return &validatorMaker{Evaluator: e, ranges: ranges} }
	dishes := parallel.Map(owned, begin, (*validatorMaker).dish)
	for i, own := range owned {
		own.validator = dishes[i]
	}
	for i, sketch := range parallel.Map(e.plan.Tasks, begin, (*validatorMaker).task) {
		e.tasks[i].validator = sketch
	}
	e.memo.circle = make(map[*plan.Circle]rangeDigest, len(dishes))
	e.memo.ready = true
}

// neededDishes returns the ownerships of the dishes of tasks, of the counted dishes inside them, and
// of the dishes that they are linked to, with those that their links carry.
func (e *Evaluator) neededDishes() (list []*ownership) {
	seen := make(map[*plan.Circle]bool)
	var add func(d *dish.Dish)
	add = func(d *dish.Dish) {
		c := e.circles[d]
		if seen[c] {
			return
		}
		seen[c] = true
		for _, member := range c.Dishes {
			own := e.ownerships[member]
			list = append(list, own)
			for _, inner := range own.Carried() {
				add(inner.Dish)
			}
		}
		for _, l := range c.Links {
			add(l)
		}
	}
	for _, t := range e.plan.Tasks {
		add(t.Dish)
		if t.DefaultInputs || len(t.Inputs) > 0 {
			for _, inner := range e.ownerships[t.Dish].Inner() {
				add(inner.Dish)
			}
		}
		for _, d := range t.Sources {
			add(d)
		}
	}
	return list
}

// validatorMaker makes validators of sets of files. It is for one goroutine.
type validatorMaker struct {
	*Evaluator
	writer pack.Writer
	ranges *rangeDigests
}

// dish returns the validator of the files of a dish and of the rules that select its sources.
func (s *validatorMaker) dish(own *ownership) rangeDigest {
	d := s.ranges.Of(own.Dish.Path)
	if !d.Known {
		return d
	}
	w := &s.writer
	w.Reset()
	w.Raw(d.Digest[:])
	own.Describe(w)
	if !s.lockfiles.Describe(w, own.Dish) {
		return rangeDigest{}
	}
	if s.history.HasByProducts(own.Dish) {
		for _, t := range own.Tasks {
			for _, b := range s.history.Of(t).ByProducts {
				w.String(t.Name)
				w.String(b.Path)
				w.Raw(b.Sum[:])
			}
		}
	}
	return rangeDigest{Digest: sumFields(w), Known: true, Plain: d.Plain}
}

// task returns the validator of the globs of a task, and of the files outside of its dish that
// they may match.
func (s *validatorMaker) task(t *plan.Task) rangeDigest {
	if len(t.OnDisk) > 0 {
		return rangeDigest{} // ignored files are not in the tree
	}
	w := &s.writer
	w.Reset()
	w.String(t.Name)
	w.Strings(t.Inputs)
	if t.DefaultInputs {
		w.Byte(1)
	}
	w.Strings(s.lockfiles.Named(t))
	for _, at := range s.reach(t).Inputs {
		if !s.addRange(s.ownerships[t.Dish], at) {
			return rangeDigest{}
		}
	}
	if !s.addHidden(t) {
		return rangeDigest{}
	}
	for _, at := range s.reach(t).outputs { // tracked outputs are inputs too
		if Inside(at, t.Dish.Path) {
			continue
		}
		d := s.ranges.Of(at) // without ignored files
		if w.Raw(d.Digest[:]); !d.Known {
			return rangeDigest{}
		}
	}
	return rangeDigest{Digest: sumFields(w), Known: true}
}

// addRange adds the files outside of the dish that a glob with this prefix may match. It returns
// false for a path behind a link and for an ignored directory, whose files are unknown.
func (s *validatorMaker) addRange(own *ownership, at string) bool {
	kind, inside := s.kind, Inside(at, own.Dish.Path)
	if !inside { // the tasks of many dishes may name it
		kind = func(at string) rangeKind { return s.ranges.Kind(at, s.kind) }
	}
	switch kind(at) {
	case rangeLinked:
		return false
	case rangeIgnored:
		return s.addIgnored(at)
	}
	if inside {
		return true // in the digest of the dish
	}
	d := s.ranges.Of(at)
	s.writer.String(at)
	s.writer.Raw(d.Digest[:])
	return d.Known
}

// kind returns the kind of a path.
func (s *validatorMaker) kind(at string) rangeKind {
	switch {
	case at == "." || s.tree.Walked(at):
	case s.linked(at):
		return rangeLinked
	case s.tree.Ignored(at, false) || s.tree.Ignored(at, true):
		return rangeIgnored
	}
	return rangePlain
}

// addHidden adds the ignored files that the globs of a task name.
func (s *validatorMaker) addHidden(t *plan.Task) bool {
	if len(t.Naming) == 0 {
		return true
	}
	globs, err := s.globs(t)
	if err != nil {
		return false
	}
	hidden, err := globs.Hidden(s.tree)
	return err == nil && !slices.ContainsFunc(hidden, func(e tree.Entry) bool { return !s.addIgnored(e.Path) })
}

// linked reports whether a link leads to a path that was not walked.
func (s *validatorMaker) linked(at string) bool {
	for dir := at; dir != "." && !s.tree.Walked(dir); dir = path.Dir(dir) {
		if entry, ok := s.tree.Lookup(dir); ok && entry.Kind == tree.Link {
			return true
		}
	}
	return false
}

// addIgnored adds the file at a path that git ignores, such as a lockfile, as it is on the disk.
func (s *validatorMaker) addIgnored(at string) bool {
	s.writer.String(at)
	e, err := tree.Stat(s.tree.Root(), at)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && addFile(&s.writer, s.tree, e)
}
