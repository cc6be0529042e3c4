package tree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/tree/table"
)

// Save writes the index, if anything in it is new. An error costs no more than
// that the next run reads the same files again.
func (ix *Index) Save() error {
	if ix.tree.state == nil {
		return nil
	}
	ix.settle()
	if !ix.swapDirty(false) && !ix.newLists() {
		return nil
	}
	if err := ix.tree.state.Store(indexName, table.Version, ix.payload()); err != nil {
		ix.swapDirty(true)
		return fmt.Errorf("index not saved: %w", err)
	}
	return nil
}

func (ix *Index) swapDirty(to bool) (was bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	was, ix.dirty = ix.dirty, to
	return was
}

// maxSettle bounds how many bytes settle reads.
const maxSettle = 64 << 20

// settle reads files again that were too new to be relied on and are not any more,
// so that the next run does not have to.
func (ix *Index) settle() {
	left := int64(maxSettle)
	now := time.Now().UnixNano()
	for _, k := range ix.latest() {
		if left -= k.Size; !k.settled && left > 0 && ix.clock.Settled(&k.Entry, now) {
			_, _ = ix.Sum(k.Entry) // one that changed since is simply not settled
		}
	}
}

// latest gives the last known state of each file, sorted by path.
func (ix *Index) latest() (fresh []known) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for _, list := range ix.fresh {
		fresh = append(fresh, list[len(list)-1])
	}
	slices.SortFunc(fresh, func(a, b known) int { return strings.Compare(a.Path, b.Path) })
	return fresh
}

// newLists tells whether the next run need not read a directory, or git's list,
// that this one had to.
func (ix *Index) newLists() bool {
	t := ix.tree
	t.mu.RLock()
	top := t.top
	t.mu.RUnlock()
	return t.outer.Basis != ix.saved.Basis || t.outer.NewList(ix.saved, ix.clock) || ix.anyListed(top)
}

func (ix *Index) anyListed(n *node) bool {
	if n.listed {
		return ix.listSettled(n)
	}
	return slices.ContainsFunc(n.dirs, ix.anyListed)
}

// listSettled tells whether n, or its ignore file, is sure to have another stat when
// other names are in it than those found. What ignores from above is not its matter.
func (ix *Index) listSettled(n *node) bool {
	if n.flawed || n.only || n.ignores.bad || !ix.clock.Lists(n.stamp, n.looked) {
		return false
	}
	if !n.ignores.there {
		return true
	}
	e, ok := n.ignoreEntry()
	return ok && ix.clock.Settled(&e, n.looked)
}

// saver writes a table of the tree as it is.
type saver struct {
	*Index
	table.Writer
}

func (ix *Index) payload() []byte {
	t, s := ix.tree, &saver{Index: ix}
	t.mu.RLock()
	defer t.mu.RUnlock()
	s.dir(t.top, true)
	s.addOthers()
	return s.Payload(t.outer.Basis, t.outer.Git(ix.clock), time.Now().UnixNano())
}

// dir writes n and what is below. Settled says that what ignores from above is.
func (s *saver) dir(n *node, settled bool) {
	settled = settled && !n.flawed && (!n.listed && n.was > 0 || s.listSettled(n))
	s.Enter(table.Dir{Path: n.path, Stamp: n.stamp, Settled: settled, Before: n.before})
	for i := range n.entries {
		s.file(&n.entries[i])
	}
	s.Files()
	for _, d := range n.dirs {
		s.dir(d, settled)
	}
	s.Leave()
}

// file writes a file of the tree, with the last digest that is known of it.
func (s *saver) file(e *Entry) {
	if k, ok := s.last(e.Path); ok && k.settled {
		s.Add(&k.Entry, &k.sum)
	} else if sum, known := s.recorded(e); known {
		s.Add(e, &sum)
	} else {
		s.Add(e, nil)
	}
}

// last gives the last state of a file that was found in this invocation.
func (ix *Index) last(path string) (known, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	list := ix.fresh[path]
	if len(list) == 0 {
		return known{}, false
	}
	return list[len(list)-1], true
}

// addOthers writes what is known of files that are not in the tree: found in this
// invocation, or before and still as it was.
func (s *saver) addOthers() {
	var list []known
	for _, k := range s.latest() {
		if _, in := s.tree.top.lookup(k.Path); !in && k.settled {
			list = append(list, k)
		}
	}
	inTree, others := s.saved.Files()
	for i := inTree; i < inTree+others; i++ {
		path, _ := s.saved.File(i)
		if _, in := s.tree.top.lookup(path); in {
			continue
		}
		if _, newer := s.last(path); newer {
			continue
		}
		sum, _ := s.saved.Sum(i)
		if e, err := Stat(s.tree.root, path); err == nil && s.saved.Same(i, &e) {
			list = append(list, known{Entry: e, sum: sum})
		}
	}
	slices.SortFunc(list, func(a, b known) int { return strings.Compare(a.Path, b.Path) })
	for i := range list {
		s.Add(&list[i].Entry, &list[i].sum)
	}
}
