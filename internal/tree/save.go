package tree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/node"
	"github.com/bentobuild/bento/internal/tree/recent"
	"github.com/bentobuild/bento/internal/tree/table"
)

// Save writes the index, if anything in it is new. An error costs no more than
// that the next run reads the same files again.
func (ix *Index) Save() error {
	if ix.tree.state == nil {
		return nil
	}
	ix.settle()
	if !ix.fresh.SetNews(false) && !ix.newLists() {
		return nil
	}
	if err := ix.tree.state.Store(indexName, table.Version, ix.payload()); err != nil {
		ix.fresh.SetNews(true)
		return fmt.Errorf("index not saved: %w", err)
	}
	return nil
}

// maxSettle bounds how many bytes settle reads.
const maxSettle = 64 << 20

// settle reads files again that were too new to be relied on and are not any more,
// so that the next run does not have to.
func (ix *Index) settle() {
	left := int64(maxSettle)
	now := time.Now().UnixNano()
	for _, k := range ix.fresh.Latest(func(k *recent.State) bool { return !k.Settled }) {
		if left -= k.Size; left > 0 && ix.clock.Settled(&k.Entry, now) {
			_, _ = ix.Sum(k.Entry) // one that changed since is simply not settled
		}
	}
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

func (ix *Index) anyListed(n *node.Node) bool {
	if n.Listed {
		return ix.listSettled(n)
	}
	return slices.ContainsFunc(n.Dirs, ix.anyListed)
}

// listSettled tells whether n, or its ignore file, is sure to have another stat when
// other names are in it than those found. What ignores from above is not its matter.
func (ix *Index) listSettled(n *node.Node) bool {
	// What a repository inside the root tracks changes without a trace in its directories.
	if n.Flawed || n.Only || n.Tracks != nil || n.Ignores.Bad || !ix.clock.Lists(n.Stamp, n.Looked) {
		return false
	}
	if !n.Ignores.There {
		return true
	}
	e, ok := ignoreEntry(n)
	return ok && ix.clock.Settled(&e, n.Looked)
}

// saver writes a table of the tree as it is.
type saver struct {
	*Index
	table.Writer
	fromFresh map[string]bool // files of the tree, by path
}

func (ix *Index) payload() []byte {
	t := ix.tree
	t.mu.RLock()
	defer t.mu.RUnlock()
	h := table.Head{Basis: t.outer.Basis, Git: t.outer.Git(ix.clock), Saved: time.Now().UnixNano(), Looked: t.walked}
	if p, ok := ix.patch(); ok {
		return p.Payload(h)
	}
	return ix.anew().Payload(h)
}

// anew writes everything.
func (ix *Index) anew() *table.Writer {
	s := &saver{Index: ix, fromFresh: make(map[string]bool)}
	s.dir(ix.tree.top, 0, true)
	s.addOthers()
	return &s.Writer
}

// dir writes n and what is below. Before is how many of the files beside it come first;
// settled says that what ignores from above is.
func (s *saver) dir(n *node.Node, before int, settled bool) {
	files := n.Files()
	settled = settled && s.settled(n)
	s.Enter(table.Dir{Path: n.Path, Stamp: n.Stamp, Settled: settled, Before: before})
	for i := range files {
		s.file(&files[i])
	}
	s.Files()
	for _, d := range n.Dirs {
		s.dir(d, disk.SearchDir(files, d.Path), settled)
	}
	s.Leave()
}

// settled is listSettled for a directory that need not have been listed.
func (ix *Index) settled(n *node.Node) bool {
	return n.Unseen() || !n.Flawed && (!n.Listed && n.Was > 0 || ix.listSettled(n))
}

// file writes a file of the tree, with the last digest that is known of it.
func (s *saver) file(e *Entry) {
	if k, ok := s.fresh.Last(e.Path); ok && k.Settled {
		s.Add(&k.Entry, &k.Sum)
		s.fromFresh[e.Path] = true
	} else if sum, known := s.recorded(e); known {
		s.Add(e, &sum)
	} else {
		s.Add(e, nil)
	}
}

// addOthers writes what is known of files that are not in the tree: found in this
// invocation, or before and still as it was.
func (s *saver) addOthers() {
	list := s.fresh.Latest(func(k *recent.State) bool {
		if !k.Settled || s.fromFresh[k.Path] {
			return false
		}
		_, in := s.tree.lookup(k.Path)
		return !in
	})
	inTree, others := s.saved.Files()
	for i := inTree; i < inTree+others; i++ {
		path, _ := s.saved.File(i)
		if _, in := s.tree.lookup(path); in {
			continue
		}
		if _, newer := s.fresh.Last(path); newer {
			continue
		}
		sum, _ := s.saved.Sum(i)
		if e, err := Stat(s.tree.root, path); err == nil && s.saved.Same(i, &e) {
			list = append(list, recent.State{Entry: e, Sum: sum})
		}
	}
	slices.SortFunc(list, func(a, b recent.State) int { return strings.Compare(a.Path, b.Path) })
	for i := range list {
		s.Add(&list[i].Entry, &list[i].Sum)
	}
}
