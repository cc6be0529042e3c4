package tree

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Select returns the entries that s matches, sorted by path. The caller must not change the list.
//
// A glob matches ignored files only if its part before the first wildcard is an ignored path, or
// inside one; Select reads these from disk, and keeps the result until the next Apply there. The
// error lists the paths that could not be read.
func (t *Tree) Select(s *Set) ([]Entry, error) {
	extra, err := t.selectIgnored(s)
	if err != nil {
		return nil, err
	}
	if dir, ok := s.Whole(); ok && len(extra) == 0 {
		if list := t.Under(dir); list != nil {
			return list, nil
		}
	}
	list := extra
	for _, root := range s.Roots() {
		found := t.candidates(root)
		list = slices.Grow(list, min(len(found), 32))
		for _, e := range found {
			if s.Match(e.Path) {
				list = append(list, e)
			}
		}
	}
	return sortEntries(list), nil
}

// At returns the walked entries at or below path. The caller must not change the list.
func (t *Tree) At(path string) []Entry { return t.candidates(clean(path)) }

// candidates returns the entries at or below path.
func (t *Tree) candidates(path string) []Entry {
	if e, ok := t.Lookup(path); ok {
		return []Entry{e}
	}
	return t.Under(path)
}

// sortEntries sorts by path and removes duplicates.
func sortEntries(list []Entry) []Entry {
	order := func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Path == b.Path })
}

// named is the result of one pattern on disk.
type named struct {
	prefix  string
	entries []Entry
}

// selectIgnored returns the ignored paths that s names.
func (t *Tree) selectIgnored(s *Set) ([]Entry, error) {
	var list []Entry
	for p := range s.Patterns() {
		if !t.namesIgnored(p.Prefix) {
			continue
		}
		found, err := t.lookOnDisk(p)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if s.Match(e.Path) {
				list = append(list, e)
			}
		}
	}
	return list, nil
}

func (t *Tree) namesIgnored(path string) bool {
	return t.ruledOut(path, false) || t.ruledOut(path, true)
}

func (t *Tree) lookOnDisk(p *glob.Pattern) ([]Entry, error) {
	key := p.Prefix + "\x00" + p.Rest
	t.mu.RLock()
	known, ok := t.named[key]
	age := t.refreshed
	t.mu.RUnlock()
	if ok {
		return known.entries, nil
	}
	r, err := disk.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := disk.Collector{Root: r, Enters: p.Enters}
	if err := c.Collect(p.Prefix); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named == nil {
		t.named = map[string]named{}
	}
	if age == t.refreshed { // otherwise the result may be older than the tree
		t.named[key] = named{p.Prefix, c.Entries}
	}
	return c.Entries, nil
}
