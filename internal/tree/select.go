package tree

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Select gives the entries that s means, sorted by path. The list is not to be
// changed.
//
// What git ignores is meant only by a glob whose part before the first wildcard is
// an ignored path, or lies inside one; that is looked up on disk, and the answer
// kept until the next Refresh there. The error says what could not be read.
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
		for _, e := range t.candidates(root) {
			if s.Match(e.Path) {
				list = append(list, e)
			}
		}
	}
	return sortEntries(list), nil
}

// At gives what was walked at path, or below it. The list is not to be changed.
func (t *Tree) At(path string) []Entry { return t.candidates(clean(path)) }

// candidates gives what is at path, or below it.
func (t *Tree) candidates(path string) []Entry {
	if e, ok := t.Lookup(path); ok {
		return []Entry{e}
	}
	return t.Under(path)
}

// sortEntries sorts by path, each path once.
func sortEntries(list []Entry) []Entry {
	order := func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Path == b.Path })
}

// named is what was found on disk for one pattern.
type named struct {
	prefix  string
	entries []Entry
}

// selectIgnored gives what s means of the ignored paths that it names.
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
	if age == t.refreshed { // else it may be older than the tree
		t.named[key] = named{p.Prefix, c.Entries}
	}
	return c.Entries, nil
}
