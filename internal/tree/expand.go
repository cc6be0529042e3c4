package tree

import "github.com/bentobuild/bento/internal/tree/disk"

// Expand returns the entries now on disk that s matches, sorted by path: without ignore rules, links
// as links, and empty directories as entries of Kind Dir. Root is an absolute path. It never returns
// anything in .git, or in .bento at the root. The error lists the paths that could not be read.
func Expand(root string, s *Set) ([]Entry, error) {
	r, err := disk.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return expand(r, s, nil)
}

// Expand is Expand at the tree's root. It returns context.Canceled once Stop is closed.
func (t *Tree) Expand(s *Set) ([]Entry, error) { return expand(t.disk, s, t.stop) }

// ExpandAnyway is Expand at the tree's root, and works even after Stop is closed.
func (t *Tree) ExpandAnyway(s *Set) ([]Entry, error) { return expand(t.disk, s, nil) }

func expand(r *disk.Root, s *Set, stop <-chan struct{}) ([]Entry, error) {
	c := disk.Collector{Root: r, Enters: s.Enters, Empty: s.Match, Stop: stop}
	for _, path := range s.Roots() {
		if err := c.Collect(path); err != nil {
			return nil, err
		}
	}
	list := c.Entries[:0]
	for _, e := range c.Entries {
		if s.Match(e.Path) {
			list = append(list, e)
		}
	}
	return sortEntries(list), nil
}

// IgnoredNow returns the files and links at or below dir that are now on disk and that git ignores,
// sorted by path. enters reports whether to list a directory.
func (t *Tree) IgnoredNow(dir string, enters func(dir string) bool) ([]Entry, error) {
	c := disk.Collector{Root: t.disk, Enters: enters, Stop: t.stop}
	if err := c.Collect(clean(dir)); err != nil {
		return nil, err
	}
	list := c.Entries[:0]
	for _, e := range c.Entries {
		if _, known := t.Lookup(e.Path); !known && t.Ignored(e.Path, false) {
			list = append(list, e)
		}
	}
	return sortEntries(list), nil
}
