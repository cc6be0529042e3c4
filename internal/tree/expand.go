package tree

import "github.com/bentobuild/bento/internal/tree/disk"

// Expand gives what is on disk now at the paths that s means, sorted by path: no
// ignore rules, links as links, and directories that are empty as entries of Kind
// Dir. Root is an absolute path. Nothing in .git, or in .bento at the root, is
// ever meant. The error says what could not be read.
func Expand(root string, s *Set) ([]Entry, error) {
	r, err := disk.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := disk.Collector{Root: r, Enters: s.Enters, Empty: s.Match}
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
