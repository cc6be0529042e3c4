package key

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// inputs returns the entries that the key of a task is made of, by path.
func (e *Evaluator) inputs(t *plan.Task) ([]tree.Entry, error) {
	terr := e.territories[t.Dish]
	var list []tree.Entry
	if t.DefaultInputs {
		list = slices.Clone(terr.Defaults(e.tree))
	}
	list, err := e.addExplicit(terr, t, list)
	if err == nil {
		list, err = e.addOnDisk(t, list)
	}
	if err != nil {
		return nil, err
	}
	return e.addFound(t, e.addTracked(t, e.withoutLeft(t, list))), nil
}

// addOnDisk adds what globs of a task name that also see what git ignores.
func (e *Evaluator) addOnDisk(t *plan.Task, list []tree.Entry) ([]tree.Entry, error) {
	if len(t.OnDisk) == 0 {
		return list, nil
	}
	set, err := tree.CompileSet("", t.OnDisk)
	if err != nil {
		return nil, err
	}
	named, err := e.tree.Expand(set)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	globs, err := e.globs(t)
	for _, entry := range named {
		if entry.Kind != tree.Dir && err == nil && !IsOwnFile(t.Dish.Path, entry.Path) && !globs.Makes(entry.Path) {
			list = append(list, entry)
		}
	}
	return sortedEntries(list), err
}

// addTracked adds what lies among the outputs of a task and git tracks, whatever the
// inputs say: bento neither removes nor restores it, so that a result is only right
// where it is the same. List is not changed.
func (e *Evaluator) addTracked(t *plan.Task, list []tree.Entry) []tree.Entry {
	more := slices.DeleteFunc(e.trackedOutputs(t), func(entry tree.Entry) bool { return has(list, entry.Path) })
	if len(more) == 0 {
		return list
	}
	return sortedEntries(slices.Concat(list, more))
}

// trackedOutputs returns what lies among the outputs of a task and git tracks. Mostly there
// is nothing, and no glob is compiled for it.
func (e *Evaluator) trackedOutputs(t *plan.Task) (list []tree.Entry) {
	for _, at := range e.reach(t).outputs {
		for _, entry := range e.tree.At(at) {
			if !IsOwnFile(t.Dish.Path, entry.Path) && e.tree.Tracked(entry.Path) {
				list = append(list, entry)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	globs, err := e.globs(t)
	if err != nil {
		return nil // which is found again
	}
	return slices.DeleteFunc(list, func(entry tree.Entry) bool { return !globs.Makes(entry.Path) })
}

// outputsAfter returns the digest of what is outputsAfter once t is up to date, where its outputs go: what
// it made, and what git tracks outputsAfter, which it leaves as it is.
func (e *Evaluator) outputsAfter(t *plan.Task) cache.Digest {
	made := e.node(t).made
	tracked := e.trackedOutputs(t)
	if made == (cache.Digest{}) || len(tracked) == 0 {
		return made
	}
	set, err := e.contents.Set(sortedEntries(tracked))
	if err != nil {
		return made // they are inputs of t, which has no key either
	}
	of := set.Digest()
	return cache.Sum(slices.Concat(made[:], of[:]))
}

// has reports whether a path is among sorted entries.
func has(list []tree.Entry, p string) bool {
	_, found := slices.BinarySearchFunc(list, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	return found
}

// addFound adds what lay among the outputs of a task and was not made by it.
func (e *Evaluator) addFound(t *plan.Task, list []tree.Entry) []tree.Entry {
	found := e.memory.Of(t).Found
	if len(found) == 0 {
		return list
	}
	list = slices.Clone(list)
	outputs := e.memory.Of(t).Outputs
	for _, p := range found {
		if slices.Contains(outputs, p) {
			continue // an earlier bento remembered both
		}
		if entry, err := tree.Stat(e.o.Root, p); err == nil && entry.Kind != tree.Dir {
			list = append(list, entry)
		}
	}
	return sortedEntries(list)
}

func sortedEntries(list []tree.Entry) []tree.Entry {
	slices.SortFunc(list, func(x, y tree.Entry) int { return strings.Compare(x.Path, y.Path) })
	return slices.CompactFunc(list, func(x, y tree.Entry) bool { return x.Path == y.Path })
}

// addLinks adds the links that the literal part of a glob leads through: what it
// names lies behind them.
func (e *Evaluator) addLinks(prefixes []string, list []tree.Entry) []tree.Entry {
	for _, pre := range prefixes {
		for dir := pre; dir != "."; dir = path.Dir(dir) {
			if entry, ok := e.tree.Lookup(dir); ok && entry.Kind == tree.Link {
				list = append(list, entry)
			}
		}
	}
	return list
}

// addExplicit adds what the globs of a task name, and takes away what they negate.
func (e *Evaluator) addExplicit(terr *ownership, t *plan.Task, list []tree.Entry) ([]tree.Entry, error) {
	if len(t.Inputs) == 0 {
		return list, nil
	}
	globs, err := e.globs(t)
	if err != nil {
		return nil, err
	}
	named, err := e.tree.Select(globs.All)
	if err != nil {
		return nil, err
	}
	for _, entry := range named {
		if globs.Admits(e.tree, terr, entry.Path) {
			list = append(list, entry)
		}
	}
	list = sortedEntries(e.addLinks(e.reach(t).Inputs, list))
	return slices.DeleteFunc(list, func(entry tree.Entry) bool { return globs.Negates(entry.Path) }), nil
}

// globs returns the compiled inputs of a task.
func (e *Evaluator) globs(t *plan.Task) (*globs, error) {
	n := e.node(t)
	if n.globs != nil {
		return n.globs, nil
	}
	g, err := newGlobs(t, e.reach(t))
	if err == nil {
		n.globs = g
	}
	return g, err
}
