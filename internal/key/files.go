package key

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Files answers which files are behind the keys of an Evaluator: then, when the keys were made, and now. It is
// for the goroutine of the Evaluator.
type Files struct{ e *Evaluator }

// FilesOf returns the files behind the keys of e.
func FilesOf(e *Evaluator) Files { return Files{e} }

// DishSources are the files that a link to a dish carried when a key was made: its sources, and those
// of dishes inside it.
type DishSources struct {
	Dish    *dish.Dish
	Files   []tree.Entry    // by path
	Targets []tree.Entry    // of the links among Files
	Dirs    []tree.DirStamp // the directories of Files
}

// Seen holds the sets that EachSources has passed to its function.
type Seen map[*sourceSet]bool

// EachSources calls f with the sources of every dish whose sources are in the key of ev: those
// that its task is linked to, directly or not. It skips sets in seen, and the sets behind them.
func (ev *Evaluation) EachSources(seen Seen, f func(DishSources)) {
	ev.eachSet(seen, func(s *sourceSet) {
		for _, l := range s.lists {
			f(l)
		}
	})
}

func (ev *Evaluation) eachSet(seen Seen, f func(*sourceSet)) {
	var walk func(s *sourceSet)
	walk = func(s *sourceSet) {
		if seen[s] {
			return
		}
		seen[s] = true
		f(s)
		for _, n := range s.next {
			walk(n)
		}
	}
	for _, s := range ev.sources {
		walk(s)
	}
}

// Carried returns the files that a link to d carries now.
func (f Files) Carried(d *dish.Dish) DishSources {
	e := f.e
	s := DishSources{Dish: d, Files: e.ownerships[d].Load(e.tree)}
	s.Targets, _ = LinkTargets(e.tree, s.Files)
	s.Dirs = e.tree.DirsOf(s.Files)
	return s
}

// Linked returns the dishes whose sources are in the key of t.
func (f Files) Linked(t *plan.Task) (list []*dish.Dish) {
	seen := make(map[*plan.Circle]bool)
	var add func(dishes []*dish.Dish)
	add = func(dishes []*dish.Dish) {
		for _, d := range dishes {
			if c := f.e.circles[d]; !seen[c] {
				seen[c] = true
				list = append(list, c.Dishes...)
				add(c.Links)
			}
		}
	}
	add(t.Sources)
	return list
}

// Sources returns the sources of the dish of t now, without those of the dishes inside it, by path.
func (f Files) Sources(t *plan.Task) []tree.Entry { return f.e.ownerships[t.Dish].Own(f.e.tree) }

// Read reads the sources that are in keys only by their remembered digests, for the evaluations whose
// execution needs the files. Every refresh of the tree does that first.
func (f Files) Read() { f.e.readUnread() }

// manySources is the smallest number of dishes for which ReadBeside reads. With fewer dishes, reading
// later costs less than the thread that it would take now from the goroutines that start the task.
const manySources = 256

// ReadBeside calls Read in a large workspace. The caller is about to wait for a started task.
func (f Files) ReadBeside() {
	if len(f.e.plan.Workspace.Dishes) >= manySources {
		f.Read()
	}
}

// Differ returns the path of a dish whose files, when they were read, did not match their digest in the key of
// ev, "" for none.
func (f Files) Differ(ev *Evaluation) (dish string) {
	if !f.e.differing {
		return ""
	}
	ev.eachSet(make(Seen), func(s *sourceSet) {
		if s.differs {
			dish = s.circle.Dishes[0].Path
		}
	})
	return dish
}

// SourcesChanged returns the first linked dish whose sources have other content in the key of now than in that of then, of
// the same task; "" for none.
func SourcesChanged(then, now *Evaluation) (dish string) {
	for i, s := range now.sources {
		if i >= len(then.sources) || then.sources[i].digest != s.digest {
			return s.circle.Dishes[0].Path
		}
	}
	return ""
}

// Outside returns the paths outside of the dish that the inputs of a task may name: the literal
// prefixes of globs that are anchored at the workspace, and the targets of links.
func (f Files) Outside(ev *Evaluation) []string {
	t := ev.Task
	_, dirs := LinkTargets(f.e.tree, ev.Entries)
	for _, glob := range slices.Concat(t.OnDisk, t.Inputs) {
		if strings.HasPrefix(glob, "//") {
			dirs = append(dirs, prefix(t.Dish.Path, glob))
		}
	}
	return dirs
}

// InputsOf returns the inputs of a task as they are now, without those that only a run finds.
func (f Files) InputsOf(t *plan.Task) ([]tree.Entry, error) { return f.e.inputs(t) }

// InputsNow returns the entries that the key of ev would be made of now. The caller has refreshed
// the dish and the paths that Outside returns.
func (f Files) InputsNow(ev *Evaluation) ([]tree.Entry, error) {
	list, err := f.e.inputs(ev.Task)
	if err != nil || len(ev.Lock) == 0 {
		return list, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool {
		return slices.ContainsFunc(ev.Lock, func(l tree.Entry) bool { return l.Path == entry.Path })
	}), nil
}
