package tree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// Save writes the index if it changed. After an error the next run reads the same files again.
func (ix *Index) Save() error {
	if ix.tree.state == nil {
		return nil
	}
	ix.settle()
	if !ix.fresh.SetNews(false) && !ix.newLists() {
		return nil
	}
	if err := ix.tree.state.Store(indexName, tableVersion, ix.payload()...); err != nil {
		ix.fresh.SetNews(true)
		return fmt.Errorf("index not saved: %w", err)
	}
	return nil
}

// maxSettle is the largest number of bytes that settle reads.
const maxSettle = 64 << 20

// settle reads files again that were too new at the first read and are old enough now, so that the
// next run need not read them.
func (ix *Index) settle() {
	left := int64(maxSettle)
	now := time.Now().UnixNano()
	for _, k := range ix.fresh.Latest(func(k *fileState) bool { return !k.Settled }) {
		if left -= k.Size; left > 0 && ix.clock.Settled(&k.Entry, now) {
			_, _ = ix.Sum(k.Entry) // a file that changed since stays unsettled
		}
	}
}

// newLists reports whether this run read a directory or git's index, and saving the index spares the
// next run that read.
func (ix *Index) newLists() bool {
	t := ix.tree
	t.mu.RLock()
	top := t.top
	t.mu.RUnlock()
	return t.outer.Basis != ix.saved.Basis || t.outer.NewList(ix.saved, ix.clock) || ix.anyListed(top)
}

func (ix *Index) anyListed(n *dirNode) bool {
	if n.Listed {
		return ix.listSettled(n)
	}
	return slices.ContainsFunc(n.Dirs, ix.anyListed)
}

// listSettled reports whether any change of the names in n changes the stat of n or of its ignore
// file. It does not check the rules from above.
func (ix *Index) listSettled(n *dirNode) bool {
	// A repository inside the root changes its index without changing its directories.
	if n.Flawed || n.Only || n.Tracks != nil || n.Ignores.Bad || !ix.clock.Lists(n.Stamp, n.Looked) {
		return false
	}
	if !n.Ignores.There {
		return true
	}
	e, ok := ignoreEntry(n)
	return ok && ix.clock.Settled(&e, n.Looked)
}

// saver writes a table of the current tree.
type saver struct {
	*Index
	tableWriter
	fromFresh map[string]bool // files of the tree by path
}

// payload returns the table of the tree, in parts.
func (ix *Index) payload() [][]byte {
	t := ix.tree
	t.mu.RLock()
	defer t.mu.RUnlock()
	h := tableHead{Basis: t.outer.Basis, Git: t.outer.Git(ix.clock), Saved: time.Now().UnixNano(), Looked: t.walked}
	if p, ok := ix.patch(); ok {
		return p.Payload(h)
	}
	return [][]byte{ix.full().Payload(h)}
}

// full writes the whole table.
func (ix *Index) full() *tableWriter {
	count := ix.tree.top.count()
	s := &saver{Index: ix, fromFresh: make(map[string]bool, count/2)}
	s.files = make([]byte, 0, count*fileSize)
	s.dir(ix.tree.top, 0, true)
	s.addOthers()
	return &s.tableWriter
}

// dir writes n and its directories. before is the number of its parent's files that come first;
// settled reports whether the rules from above are settled.
func (s *saver) dir(n *dirNode, before int, settled bool) {
	files := n.Files()
	settled = settled && s.settled(n)
	s.Enter(tableDir{Path: n.Path, Stamp: n.Stamp, Settled: settled, Whole: n.Whole, Before: before})
	for i := range files {
		s.file(&files[i])
	}
	s.Files()
	for _, d := range n.Dirs {
		s.dir(d, disk.SearchDir(files, d.Path), settled)
	}
	s.Leave()
}

// settled is listSettled for a directory that may be unlisted.
func (ix *Index) settled(n *dirNode) bool {
	return n.Unseen() || !n.Flawed && (!n.Listed && n.Was > 0 || ix.listSettled(n))
}

// file writes a file of the tree, with its last known digest.
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

// addOthers writes the states of files outside the tree: from this process, and earlier ones that
// are unchanged.
func (s *saver) addOthers() {
	list := s.fresh.Latest(func(k *fileState) bool {
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
			list = append(list, fileState{Entry: e, Sum: sum})
		}
	}
	slices.SortFunc(list, func(a, b fileState) int { return strings.Compare(a.Path, b.Path) })
	for i := range list {
		s.Add(&list[i].Entry, &list[i].Sum)
	}
}
