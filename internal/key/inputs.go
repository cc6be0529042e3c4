package key

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// inputs returns the entries of the inputs of a task, sorted by path.
func (e *Evaluator) inputs(t *plan.Task) ([]tree.Entry, error) {
	own := e.ownerships[t.Dish]
	var list []tree.Entry
	if t.DefaultInputs {
		list = slices.Clone(own.Defaults(e.tree))
	}
	list, err := e.addExplicit(own, t, list)
	if err == nil {
		list, err = e.addOnDisk(t, list)
	}
	if err != nil {
		return nil, err
	}
	return e.addFound(t, e.addTracked(t, e.withoutByProducts(t, list))), nil
}

// addOnDisk adds the files that match the globs of a task that apply to ignored files too.
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
	made := e.madeFor(t)
	for _, entry := range named {
		if entry.Kind != tree.Dir && err == nil && !Inside(entry.Path, state.Name) && !globs.Makes(entry.Path) && !made[entry.Path] {
			list = append(list, entry)
		}
	}
	return sortedEntries(list), err
}

// madeFor returns the paths of the outputs whose digest is in the key of t: these files are not
// inputs as well. Any other file among them is an input.
func (e *Evaluator) madeFor(t *plan.Task) map[string]bool {
	made := make(map[string]bool)
	for _, d := range t.Deps {
		if ev := e.last(d.Task); ev != nil && d.Via == plan.ViaOutputs {
			for _, o := range ev.Outputs {
				made[o.Path] = true
			}
		}
	}
	return made
}

// addTracked adds the outputs of a task that git tracks, even if no input covers them: bento neither
// removes nor restores them, so a result is valid only together with the same files. It does not
// change list.
func (e *Evaluator) addTracked(t *plan.Task, list []tree.Entry) []tree.Entry {
	more := slices.DeleteFunc(e.trackedOutputs(t), func(entry tree.Entry) bool { return has(list, entry.Path) })
	if len(more) == 0 {
		return list
	}
	return sortedEntries(slices.Concat(list, more))
}

// trackedOutputs returns the outputs of a task that git tracks. Most tasks have none, and then it
// compiles no glob.
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
		return nil // the caller finds the error again
	}
	return slices.DeleteFunc(list, func(entry tree.Entry) bool { return !globs.Makes(entry.Path) })
}

// outputsAfter returns the digest of the outputs of the task of ev, together with tracked files among
// them, which the task does not change.
func (e *Evaluator) outputsAfter(ev *Evaluation) cache.Digest {
	made, tracked := ev.made, e.trackedOutputs(ev.Task)
	if made == (cache.Digest{}) || len(tracked) == 0 {
		return made
	}
	set, err := e.files.Set(sortedEntries(tracked))
	if err != nil {
		return made // they are inputs of the task too, so it has no key
	}
	of := set.Digest()
	return cache.Sum(slices.Concat(made[:], of[:]))
}

// has reports whether a path is among sorted entries.
func has(list []tree.Entry, p string) bool {
	_, found := find(list, p)
	return found
}

// addFound adds the files that existed among the outputs of a task before it ran.
func (e *Evaluator) addFound(t *plan.Task, list []tree.Entry) []tree.Entry {
	found := e.history.Of(t).Found
	if len(found) == 0 {
		return list
	}
	list = slices.Clone(list)
	outputs := e.history.Of(t).Outputs
	for _, p := range found {
		if slices.Contains(outputs, p) {
			continue // an earlier bento remembered both
		}
		if entry, err := e.tree.Stat(p); err == nil && entry.Kind != tree.Dir {
			list = append(list, entry)
		}
	}
	return sortedEntries(list)
}

func sortedEntries(list []tree.Entry) []tree.Entry {
	slices.SortFunc(list, func(x, y tree.Entry) int { return strings.Compare(x.Path, y.Path) })
	return slices.CompactFunc(list, func(x, y tree.Entry) bool { return x.Path == y.Path })
}

// addLinks adds the links that the literal part of a glob leads through.
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

// addExplicit adds the files that match the globs of a task, and removes negated ones.
func (e *Evaluator) addExplicit(own *ownership, t *plan.Task, list []tree.Entry) ([]tree.Entry, error) {
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
	hidden, err := globs.Hidden(e.tree)
	if err != nil {
		return nil, err
	}
	named = slices.Concat(named, hidden)
	list = slices.Grow(list, len(named)+len(e.reach(t).Inputs)) // most are admitted
	for _, entry := range named {
		if globs.Admits(e.tree, own, entry.Path) {
			list = append(list, entry)
		}
	}
	list = sortedEntries(e.addLinks(e.reach(t).Inputs, list))
	return slices.DeleteFunc(list, func(entry tree.Entry) bool { return globs.Negates(entry.Path) }), nil
}

// globs returns the compiled inputs of a task.
func (e *Evaluator) globs(t *plan.Task) (*globs, error) {
	n := e.facts(t)
	if n.globs != nil {
		return n.globs, nil
	}
	g, err := newGlobs(t, e.reach(t))
	if err == nil {
		n.globs = g
	}
	return g, err
}
