package key

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// locks holds what dishes get. It is for one goroutine.
type locks struct {
	ws     *discovery.Workspace
	byDish map[*discovery.Dish]*lock
}

// lock is what a dish gets from a lockfile. Where the file is an input, the digest
// stands in its place.
type lock struct {
	path   string // relative to the workspace
	digest string
	entry  tree.Entry // as it was when the adapter was asked
}

// newLocks returns what the adapters of ws could tell.
func newLocks(ws *discovery.Workspace) *locks {
	s := &locks{ws: ws, byDish: make(map[*discovery.Dish]*lock)}
	for _, d := range ws.Dishes {
		s.put(d, d.Lock)
	}
	return s
}

func (s *locks) put(d *discovery.Dish, answer adapters.LockAnswer) {
	delete(s.byDish, d)
	p, ok := s.ws.Relative(answer.File)
	if !ok || answer.Digest == "" {
		return
	}
	if entry, ok := s.ws.Tree.Lookup(p); ok && entry.Kind == tree.File {
		s.byDish[d] = &lock{p, answer.Digest, entry}
	}
}

// Installed looks again at what an install of d's scope may have written, and asks
// anew what its dishes get.
func (s *locks) Installed(ctx context.Context, d *discovery.Dish) error {
	var files []string
	for _, f := range d.Scope.Files {
		if rel, ok := s.ws.Relative(f); ok {
			files = append(files, rel)
		}
	}
	if err := s.ws.Tree.Refresh(ctx, files); err != nil {
		return err
	}
	for _, other := range s.ws.Dishes {
		if other.Adapter == nil || other.ScopeID() != d.ScopeID() {
			continue
		}
		answer, err := adapters.LockDigest(ctx, other.Adapter, other.Dir)
		if err != nil {
			answer = adapters.LockAnswer{} // then all of it counts
		}
		s.put(other, answer)
	}
	return nil
}

// Take takes the lockfile of d out of entries, which are sorted by path, and returns what
// stands in the key in its place. When the file is none of them, or is not any more what the
// adapter has seen, it returns entries as they are, and no lock.
func (s *locks) Take(d *discovery.Dish, entries []tree.Entry) (rest, taken []tree.Entry, lock lockPart) {
	l := s.byDish[d]
	if l == nil {
		return entries, nil, lock
	}
	i, found := slices.BinarySearchFunc(entries, l.path, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found || !entries[i].Same(&l.entry) {
		return entries, nil, lock
	}
	return slices.Concat(entries[:i], entries[i+1:]), entries[i : i+1], lockPart{Path: l.path, Digest: l.digest}
}

// Describe writes what d gets, and whether the lockfile is still what the adapter has
// seen.
func (s *locks) Describe(w *pack.Writer, d *discovery.Dish) {
	l := s.byDish[d]
	if l == nil {
		w.Byte(0)
		return
	}
	w.Byte(1)
	w.String(l.path)
	w.String(l.digest)
	if entry, ok := s.ws.Tree.Lookup(l.path); ok && entry.Same(&l.entry) {
		w.Byte(1)
	}
}

// Named reports whether dish.toml itself names the lockfile of the dish among the inputs
// of t: then all of it is meant.
func (s *locks) Named(t *plan.Task) bool {
	l := s.byDish[t.Dish]
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
		return rooted && text == l.path || !rooted && path.Join(t.Dish.Path, text) == l.path
	})
}
