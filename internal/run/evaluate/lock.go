package evaluate

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// lock is what a dish gets from a lockfile. Where the file is an input, the digest
// stands in its place.
type lock struct {
	path   string // relative to the workspace
	digest string
	entry  tree.Entry // as it was when the adapter was asked
}

// newLocks gives the locks of the dishes whose adapter could tell.
func newLocks(ws *discovery.Workspace) map[*discovery.Dish]*lock {
	locks := make(map[*discovery.Dish]*lock)
	for _, d := range ws.Dishes {
		p, ok := ws.Relative(d.Lock.File)
		if !ok || d.Lock.Digest == "" {
			continue
		}
		if entry, ok := ws.Tree.Lookup(p); ok && entry.Kind == tree.File {
			locks[d] = &lock{p, d.Lock.Digest, entry}
		}
	}
	return locks
}

// takeLock takes the lockfile of d out of entries and adds the digest for it. When
// the file is none of them, or is not any more what the adapter has seen, it adds
// nothing and gives entries as they are.
func (e *Evaluator) takeLock(b *fingerprint.Builder, d *discovery.Dish, entries []tree.Entry) (rest, taken []tree.Entry) {
	l := e.locks[d]
	if l == nil {
		return entries, nil
	}
	i, found := slices.BinarySearchFunc(entries, l.path, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found || !entries[i].Same(&l.entry) {
		return entries, nil
	}
	b.Lock(l.path, l.digest)
	return slices.Concat(entries[:i], entries[i+1:]), entries[i : i+1]
}

// namesLock tells whether dish.toml itself names the lockfile of the dish among the
// inputs of t: then all of it is meant.
func (e *Evaluator) namesLock(t *plan.Task) bool {
	l := e.locks[t.Dish]
	if l == nil || t.Dish.Config == nil {
		return false
	}
	globs := t.Dish.Config.Inputs
	for _, c := range t.Dish.Config.Tasks {
		if c.Name == t.Name && c.Inputs != nil {
			globs = *c.Inputs
		}
	}
	return slices.ContainsFunc(globs, func(g config.Glob) bool {
		text, rooted := strings.CutPrefix(g.Text, "//")
		return text == l.path && rooted || !rooted && path.Join(t.Dish.Path, text) == l.path
	})
}
