package key

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// sourceSet is the digest of the sources of a circle of dishes, which is mostly one dish: their
// own sources, those of dishes inside them, and the source sets of the dishes that they are linked to.
// What they read elsewhere is among the inputs of the tasks of their dependants, see plan.carrier.
type sourceSet struct {
	circle *plan.Circle
	digest cache.Digest
	next   []*sourceSet
	err    error
	at     int // clock.now when it was made

	// plain says that digest is remembered, and that all files are regular ones whose stats are known:
	// readUnread may read them after the key was made.
	plain   bool
	loaded  bool // the files were read
	differs bool // readUnread has found another digest
	made    Pack // the blobs that digest refers to

	names cache.Digest // see Evaluator.namesOf; zero before it is needed
	named Pack         // the blobs that names refers to

	lists []DishSources
}

// addSources adds the sources of the dishes that t is linked to.
func (e *Evaluator) addSources(b *builder, t *plan.Task, ev *Evaluation) error {
	for _, d := range t.Sources {
		s := e.sourcesOf(d, ev.loaded)
		if s.err != nil {
			return s.err
		}
		digest := s.digest
		if ev.FindsInputs {
			var err error
			if digest, err = e.namesOf(s); err != nil {
				return err
			}
		}
		b.Sources(d.Path, digest)
		ev.sources = append(ev.sources, s)
	}
	return nil
}

// sourcesOf returns the sources of d. If load is set, its files and those of the dishes that it is
// linked to are read, at the latest by readUnread.
func (e *Evaluator) sourcesOf(d *dish.Dish, load bool) *sourceSet {
	s := e.sources[e.circles[d]]
	if s == nil || load && !s.loaded && !s.plain || e.clock.wrote > s.at && e.haveLinks(s.circle) {
		s = e.newSourceSet(e.circles[d], load)
	}
	if load && !s.loaded {
		e.unread = append(e.unread, s)
	}
	return s
}

func (e *Evaluator) newSourceSet(circle *plan.Circle, load bool) *sourceSet {
	s := &sourceSet{circle: circle, at: e.clock.now}
	e.sources[circle] = s
	var known bool
	if s.digest, s.plain, known = e.rememberedSources(circle); known && (s.plain || !load) {
		return s
	}
	e.readSources(s)
	if s.err == nil {
		e.keepSources(circle, s)
	}
	return s
}

// readUnread reads the sources that are in keys only by their remembered digests, for the
// evaluations whose execution needs the files. Every refresh of the tree calls it first.
func (e *Evaluator) readUnread() {
	for len(e.unread) > 0 {
		s := e.unread[len(e.unread)-1]
		e.unread = e.unread[:len(e.unread)-1]
		if s.loaded {
			continue
		}
		made := s.digest
		e.readSources(s)
		s.differs = s.err != nil || s.digest != made
		e.differing = e.differing || s.differs
		s.digest, s.err = made, nil
	}
}

// readSources reads the files of a set. The set is loaded afterwards, even if a file cannot be read.
func (e *Evaluator) readSources(s *sourceSet) {
	s.loaded = true
	b := e.builders.New()
	for _, member := range s.circle.Dishes {
		list := Files{e}.Carried(member)
		s.lists = append(s.lists, list)
		entries, _, locks := e.lockfiles.Take(member, nil, e.lockfiles.With(member, list.Files))
		for _, l := range locks {
			b.Lock(l.Path, l.Digest)
		}
		set, err := e.files.Set(entries)
		if err != nil {
			s.err = err
			return
		}
		// By-products of its tasks are sources for others.
		b.Files(member.Path, s.made.Add(set.Encode()))
	}
	for _, l := range s.circle.Links {
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

// forgetSources forgets the sources of d, and of the dishes inside it, after a refresh of their
// directory. It reports whether the sources have changed.
func (e *Evaluator) forgetSources(d *dish.Dish) (changed bool) {
	e.memo.stale = true
	for _, d := range beside(e.plan.Workspace, d) {
		own := e.ownerships[d]
		for outer := own; outer != nil; outer = outer.outer() {
			for _, o := range beside(e.plan.Workspace, outer.Dish) {
				e.ownerships[o].below, e.ownerships[o].load = nil, nil
			}
		}
		changed = own.refind(e.tree) || changed
	}
	if changed {
		e.noteSources(d.Path)
	}
	return changed
}

// noteSources notes that sources below a directory have changed.
func (e *Evaluator) noteSources(dir string) {
	e.clock.sources.note(e.clock.tick(), []string{dir})
	e.memo.stale = true
	clear(e.sources)
	clear(e.withLinks)
}

// has reports whether Own would return list, its earlier result, again.
func (own *ownership) has(tr *tree.Tree, list []tree.Entry) bool {
	all := tr.Under(own.Dish.Path)
	if len(all) > 0 && len(all) == len(own.among) && &all[0] == &own.among[0] {
		return true // the refresh found no change
	}
	own.among = all
	for _, e := range all {
		switch {
		case !own.isSource(tr, e.Path):
		case len(list) == 0 || !list[0].Same(&e):
			return false
		default:
			list = list[1:]
		}
	}
	return len(list) == 0
}

// refind finds the sources of the dish again, and those of the dishes inside it. It reports
// whether they have changed, or were unknown.
func (own *ownership) refind(tr *tree.Tree) (changed bool) {
	before := own.Last()
	own.Forget()
	switch {
	case before == nil:
		changed = true
	case own.has(tr, before):
		own.files = before
	default:
		changed = true
		own.Own(tr) // the next refresh compares with these
	}
	for _, inner := range own.nested {
		changed = own.all[inner].refind(tr) || changed
	}
	return changed
}
