package key

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// lockfiles holds the parts of lockfiles, and of the manifests of workspaces, that dishes use. It is for
// one goroutine.
type lockfiles struct {
	ws     *dish.Workspace
	tree   *tree.Tree
	byDish map[*dish.Dish][]lockfile // by path
}

// lockfile is the part of a file that a dish uses. In keys, its digest replaces the file.
type lockfile struct {
	path   string // relative to the workspace
	digest string
	entry  tree.Entry // when the adapter read it
}

// newLockfiles returns the lockfiles that the adapters of ws have read.
func newLockfiles(ws *dish.Workspace, files *tree.Tree) *lockfiles {
	s := &lockfiles{ws: ws, tree: files, byDish: make(map[*dish.Dish][]lockfile)}
	for _, d := range ws.Dishes {
		s.put(d, d.Lock)
	}
	return s
}

func (s *lockfiles) put(d *dish.Dish, answer adapters.LockAnswer) {
	var list []lockfile
	for _, part := range answer.All() {
		p, ok := s.ws.Relative(part.File)
		if !ok {
			continue
		}
		if entry, ok := s.tree.Lookup(p); ok && entry.Kind == tree.File {
			list = append(list, lockfile{p, part.Digest, entry})
		}
	}
	if len(list) == 0 {
		delete(s.byDish, d)
		return
	}
	slices.SortFunc(list, func(a, b lockfile) int { return strings.Compare(a.path, b.path) })
	s.byDish[d] = list
}

// Installed refreshes the files that an install of d's scope may have written, and asks the
// adapters again for the lockfiles of its dishes.
func (s *lockfiles) Installed(ctx context.Context, d *dish.Dish) error {
	var files []string
	for _, f := range d.Scope.Files {
		if rel, ok := s.ws.Relative(f); ok {
			files = append(files, rel)
		}
	}
	if err := s.tree.Apply(ctx, files); err != nil {
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

// Take removes the lockfiles of d from entries, which are sorted by path, and returns the parts that
// replace them in the key. A file stays if a source of d or the dish.toml of t names it; t is nil for the
// sources of d. So does one that has changed since the adapter read it.
func (s *lockfiles) Take(d *dish.Dish, t *plan.Task, entries []tree.Entry) (rest, replaced []tree.Entry, locks []lockPart) {
	for _, l := range s.byDish[d] {
		i, found := slices.BinarySearchFunc(entries, l.path, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
		if !found || !entries[i].Same(&l.entry) || isEmbedded(d, l.path) || t != nil && isNamed(t, l.path) {
			continue
		}
		replaced, locks = append(replaced, entries[i]), append(locks, lockPart{Path: l.path, Digest: l.digest})
		entries = slices.Concat(entries[:i], entries[i+1:])
	}
	return entries, replaced, locks
}

// part returns the part of a file that the dish of t uses, if that is known: the part stands for the file that a
// command reads as a whole.
func (s *lockfiles) part(t *plan.Task, file tree.Entry) (digest string, known bool) {
	for _, l := range s.byDish[t.Dish] {
		if l.path == file.Path && file.Same(&l.entry) && !isEmbedded(t.Dish, l.path) && !isNamed(t, l.path) {
			return l.digest, true
		}
	}
	return "", false
}

// have reports whether d uses a part of the file at path.
func (s *lockfiles) have(d *dish.Dish, path string) bool {
	return slices.ContainsFunc(s.byDish[d], func(l lockfile) bool { return l.path == path })
}

// Describe writes the parts that d uses, and whether each file is the one that the adapter has read. It
// returns false for another one outside of d: then the whole file is in the sources of d.
func (s *lockfiles) Describe(w *pack.Writer, d *dish.Dish) (known bool) {
	list := s.byDish[d]
	known = true
	w.Uint(uint64(len(list)))
	for i := range list {
		l := &list[i]
		w.String(l.path)
		w.String(l.digest)
		same := byte(0)
		if entry, ok := s.tree.Lookup(l.path); ok && entry.Same(&l.entry) {
			same = 1
		}
		w.Byte(same)
		known = known && (same == 1 || Inside(l.path, d.Path))
	}
	return known
}

// With returns the files of d, which are sorted by path, together with those above it of which d uses
// a part.
func (s *lockfiles) With(d *dish.Dish, files []tree.Entry) []tree.Entry {
	all := files
	for _, l := range s.byDish[d] {
		if entry, ok := s.tree.Lookup(l.path); ok && !Inside(l.path, d.Path) {
			all = append(slices.Clip(all), entry)
		}
	}
	if len(all) == len(files) {
		return files
	}
	return sortedEntries(all)
}

// Named returns the files that dish.toml itself names among the inputs of t: they are whole inputs.
func (s *lockfiles) Named(t *plan.Task) (paths []string) {
	for _, l := range s.byDish[t.Dish] {
		if isNamed(t, l.path) {
			paths = append(paths, l.path)
		}
	}
	return paths
}

// isEmbedded reports whether a source of d includes the file at p.
func isEmbedded(d *dish.Dish, p string) bool {
	return slices.ContainsFunc(d.Embeds, func(e dish.Embed) bool { return e.Path == p })
}

// isNamed reports whether dish.toml names the file at p among the inputs of t.
func isNamed(t *plan.Task, p string) bool {
	if t.Dish.Config == nil {
		return false
	}
	globs := t.Dish.Config.Inputs
	for _, c := range t.Dish.Config.Tasks {
		if c.Name == t.Name && c.Inputs != nil {
			globs = *c.Inputs
		}
	}
	return slices.ContainsFunc(globs, func(g dish.Glob) bool {
		text, rooted := strings.CutPrefix(g.Text, "//")
		return rooted && text == p || !rooted && path.Join(t.Dish.Path, text) == p
	})
}
