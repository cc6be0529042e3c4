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

// lockfiles holds the parts of lockfiles that dishes use. It is for one goroutine.
type lockfiles struct {
	ws     *discovery.Workspace
	byDish map[*discovery.Dish]*lockfile
}

// lockfile is the part of a lockfile that a dish uses. In keys, its digest replaces the file.
type lockfile struct {
	path   string // relative to the workspace
	digest string
	entry  tree.Entry // when the adapter read it
}

// newLockfiles returns the lockfiles that the adapters of ws have read.
func newLockfiles(ws *discovery.Workspace) *lockfiles {
	s := &lockfiles{ws: ws, byDish: make(map[*discovery.Dish]*lockfile)}
	for _, d := range ws.Dishes {
		s.put(d, d.Lock)
	}
	return s
}

func (s *lockfiles) put(d *discovery.Dish, answer adapters.LockAnswer) {
	delete(s.byDish, d)
	p, ok := s.ws.Relative(answer.File)
	if !ok || answer.Digest == "" {
		return
	}
	if entry, ok := s.ws.Tree.Lookup(p); ok && entry.Kind == tree.File {
		s.byDish[d] = &lockfile{p, answer.Digest, entry}
	}
}

// Installed refreshes the files that an install of d's scope may have written, and asks the
// adapters again for the lockfiles of its dishes.
func (s *lockfiles) Installed(ctx context.Context, d *discovery.Dish) error {
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
			answer = adapters.LockAnswer{} // then the whole file is an input
		}
		s.put(other, answer)
	}
	return nil
}

// Take removes the lockfile of d from entries, which are sorted by path, and returns the part that
// replaces it in the key. If the file is not among them, or has changed since the adapter read
// it, it returns entries unchanged and no lock.
func (s *lockfiles) Take(d *discovery.Dish, entries []tree.Entry) (rest, taken []tree.Entry, lock lockPart) {
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

// Describe writes the part that d uses, and whether the lockfile is the one that the adapter has
// read.
func (s *lockfiles) Describe(w *pack.Writer, d *discovery.Dish) {
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

// Named reports whether dish.toml itself names the lockfile of the dish among the inputs of t:
// then the whole file is an input.
func (s *lockfiles) Named(t *plan.Task) bool {
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
