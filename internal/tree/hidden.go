package tree

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// Hidden returns the ignored files, in directories that are not ignored, that a glob of s names by its last
// element: ".env*" and "**/*.gen.go" do, "**" does not. The list is sorted by path. It lists a directory
// only if an ignore rule may match such a name, and keeps the result until the next Apply there.
func (t *Tree) Hidden(s *Set) ([]Entry, error) {
	var list []Entry
	for p := range s.Patterns() {
		last := path.Base(p.Rest)
		if p.Rest == "" || strings.Trim(last, "*") == "" || t.namesIgnored(p.Prefix) {
			continue
		}
		found, err := t.hidden(p, last)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if s.Match(e.Path) {
				list = append(list, e)
			}
		}
	}
	return sortEntries(list), nil
}

// MayHide reports whether Hidden may find files for a glob: prefix is its part without wildcards, a directory
// relative to the root, and last its last element. It reads no directory.
func (t *Tree) MayHide(prefix, last string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	top := t.top.Find(prefix)
	if top.Path != prefix {
		return false
	}
	may := make(map[*ignore.Rules]bool)
	var visit func(n *dirNode) bool
	visit = func(n *dirNode) bool {
		if n.Only {
			return false
		}
		rules := t.rulesIn(n)
		is, known := may[rules]
		if !known {
			is = rules.MayIgnore(last)
			may[rules] = is
		}
		return is || slices.ContainsFunc(n.Dirs, visit)
	}
	return visit(top)
}

// hidden returns the ignored files whose names the last element of p may match.
func (t *Tree) hidden(p *glob.Pattern, last string) (list []Entry, err error) {
	key := p.Prefix + "\x00\x00" + p.Rest
	t.mu.RLock()
	known, ok := t.named[key]
	age := t.refreshed
	var dirs []*dirNode
	if !ok {
		dirs = t.hiding(p, last)
	}
	t.mu.RUnlock()
	if ok {
		return known.entries, nil
	}
	if len(dirs) > 0 {
		if list, err = t.listHidden(p, dirs); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named == nil {
		t.named = map[string]named{}
	}
	if age == t.refreshed { // otherwise the result may be older than the tree
		t.named[key] = named{p.Prefix, list}
	}
	return list, nil
}

// hiding returns the walked directories that p enters and whose ignore rules may match the last element.
func (t *Tree) hiding(p *glob.Pattern, last string) (dirs []*dirNode) {
	top := t.top.Find(p.Prefix)
	if top.Path != p.Prefix {
		return nil
	}
	may := make(map[*ignore.Rules]bool) // most directories have the rules of their parent
	var visit func(n *dirNode)
	visit = func(n *dirNode) {
		if n.Only || !p.Enters(n.Path) {
			return
		}
		rules := t.rulesIn(n)
		is, known := may[rules]
		if !known {
			is = rules.MayIgnore(last)
			may[rules] = is
		}
		if is {
			dirs = append(dirs, n)
		}
		for _, d := range n.Dirs {
			visit(d)
		}
	}
	visit(top)
	return dirs
}

// listHidden returns the ignored files directly in dirs that p matches.
func (t *Tree) listHidden(p *glob.Pattern, dirs []*dirNode) (list []Entry, err error) {
	r, err := disk.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for _, n := range dirs {
		keep := func(file string) bool { return p.Match(file) && !glob.Reserved(file) && t.hides(n, file) }
		if list, err = r.Files(n.Path, keep, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}
