// Package lockfile knows what the dishes of a workspace get from the lockfiles that
// they share, in a run.
package lockfile

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/install"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Set holds what dishes get. It is for one goroutine.
type Set struct {
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

// New gives what the adapters of ws could tell.
func New(ws *discovery.Workspace) *Set {
	s := &Set{ws: ws, byDish: make(map[*discovery.Dish]*lock)}
	for _, d := range ws.Dishes {
		s.put(d, d.Lock)
	}
	return s
}

func (s *Set) put(d *discovery.Dish, answer adapters.LockAnswer) {
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
func (s *Set) Installed(ctx context.Context, d *discovery.Dish) error {
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
		if other.Adapter == nil || install.ScopeID(other) != install.ScopeID(d) {
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

// Take takes the lockfile of d out of entries, which are sorted by path, and adds the
// digest in its place to b. When the file is none of them, or is not any more what the
// adapter has seen, it adds nothing and gives entries as they are.
func (s *Set) Take(b *fingerprint.Builder, d *discovery.Dish, entries []tree.Entry) (rest, taken []tree.Entry) {
	l := s.byDish[d]
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

// Describe writes what d gets, and whether the lockfile is still what the adapter has
// seen.
func (s *Set) Describe(w *state.Writer, d *discovery.Dish) {
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

// Named tells whether dish.toml itself names the lockfile of the dish among the inputs
// of t: then all of it is meant.
func (s *Set) Named(t *plan.Task) bool {
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
