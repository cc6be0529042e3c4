package tree

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// indexedTree is the part of the index about directories, with a root to compare it with.
type indexedTree struct {
	*indexTable
	readers sync.Pool // of *disk.Reader
	all     atomic.Bool
}

// newIndexedTree returns the part of the index about the directories in root.
func newIndexedTree(t *indexTable, root *disk.Root) *indexedTree {
	b := &indexedTree{indexTable: t}
	b.readers.New = func() any { return root.Reader() }
	return b
}

// LookAtAll announces that all stats will be read, so that File reads no single stat.
func (b *indexedTree) LookAtAll() {
	if b != nil {
		b.all.Store(true)
	}
}

// deferredFiles is the state of the files of a directory that has not changed since the index: their
// names are known, and their stats are read on first use.
type deferredFiles struct {
	of     *indexedTree // nil if nothing was left for later
	mu     sync.Mutex
	seen   atomic.Bool // their stats were read
	listed atomic.Bool // they are in Entries, which is not needed while they are unchanged
}

// Unseen reports whether the stats of the files directly in n were not read yet.
func (n *dirNode) Unseen() bool { return n.late.of != nil && !n.late.seen.Load() }

// Files returns the entries directly in n, sorted.
func (n *dirNode) Files() []disk.Entry {
	n.Look()
	if n.late.of == nil || n.late.listed.Load() {
		return n.Entries
	}
	n.late.mu.Lock()
	defer n.late.mu.Unlock()
	if !n.late.listed.Load() {
		from, to := n.late.of.FilesOf(int(n.Was) - 1)
		n.Entries = make([]disk.Entry, to-from)
		for i := range n.Entries {
			n.Entries[i] = n.late.of.Entry(from + i)
			n.Entries[i].Slot = n.late.of.slot(from + i)
		}
		n.late.listed.Store(true)
	}
	return n.Entries
}

// FilesLike yields the entries directly in n for whose paths of returns true, sorted. It lists no
// other entries.
func (n *dirNode) FilesLike(of func(path string) bool) func(yield func(*disk.Entry) bool) {
	return func(yield func(*disk.Entry) bool) {
		n.Look()
		if n.late.of == nil || n.late.listed.Load() {
			for i := range n.Entries {
				if of(n.Entries[i].Path) && !yield(&n.Entries[i]) {
					return
				}
			}
			return
		}
		for k, to := n.late.of.FilesOf(int(n.Was) - 1); k < to; k++ {
			if path, _ := n.late.of.File(k); of(path) {
				e := n.late.of.Entry(k)
				e.Slot = n.late.of.slot(k)
				if !yield(&e) {
					return
				}
			}
		}
	}
}

// File returns the entry of the file path directly in n. It reads no other stat, unless LookAtAll was
// called, and lists no other entries.
func (n *dirNode) File(path string) (disk.Entry, bool) {
	of := n.late.of
	one := n.Unseen() && !of.all.Load()
	if !one {
		n.Look()
		if of == nil || n.late.listed.Load() {
			return disk.Find(n.Entries, path)
		}
	}
	from, to := of.FilesOf(int(n.Was) - 1)
	k := of.FindIn(from, to, path)
	switch {
	case k < 0:
		return disk.Entry{}, false
	case !one: // all are unchanged
		e := of.Entry(k)
		e.Slot = of.slot(k)
		return e, true
	}
	r := of.readers.Get().(*disk.Reader)
	defer of.readers.Put(r)
	e := disk.Entry{Path: path}
	if r.StatPath(path, &e) == nil && of.Same(k, &e) {
		e.Slot = of.slot(k)
		return e, true
	}
	return disk.Find(n.Files(), path)
}

// Slot returns the Slot of e if it is unchanged since file k, else 0.
func (b *indexedTree) Slot(k int, e *disk.Entry) uint32 {
	if !b.Same(k, e) {
		return 0
	}
	return b.slot(k)
}

// slot returns the Slot of an entry that is unchanged since file k.
func (b *indexedTree) slot(k int) uint32 {
	if _, known := b.Sum(k); known {
		return uint32(k + 1)
	}
	return 0
}

// Look reads the stats of the files directly in n, if they were left for later.
func (n *dirNode) Look() {
	if !n.Unseen() {
		return
	}
	n.late.mu.Lock()
	defer n.late.mu.Unlock()
	if n.late.seen.Load() {
		return
	}
	r := n.late.of.readers.Get().(*disk.Reader)
	defer n.late.of.readers.Put(r)
	n.lookWith(r)
	n.late.listed.Store(!n.Same)
	n.late.seen.Store(true)
}

// fewFiles is the largest number of files whose stats cost less by their paths than with an opened
// directory.
const fewFiles = 4

// lookUnopened reads the stats of the files directly in n without opening n, and reports whether
// all are unchanged. Only then may the stats be used: a directory of a path may have become a link.
func (n *dirNode) lookUnopened(r *disk.Reader, from, to int) bool {
	for k := from; k < to; k++ {
		path, _ := n.late.of.File(k)
		e := disk.Entry{Path: path}
		if r.StatBelow(path, n.Stamp.Dev, &e) != nil || !n.late.of.Same(k, &e) {
			return false
		}
	}
	return true
}

// lookWith reads the stats of the files directly in n. It leaves out a removed file, as a new
// listing would; a file whose stat cannot be read stays, and fails when it is read.
func (n *dirNode) lookWith(r *disk.Reader) {
	from, to := n.late.of.FilesOf(int(n.Was) - 1)
	n.Same = true
	if from == to || to-from <= fewFiles && n.lookUnopened(r, from, to) {
		return
	}
	failed := r.Open(n.Path, n.Stamp.Dev)
	defer r.Close()
	for k := from; k < to; k++ {
		path, kind := n.late.of.File(k)
		e, err := disk.Entry{Path: path}, failed
		if err == nil {
			err = r.StatName(n.Name(path), &e)
		}
		if err == nil && n.late.of.Same(k, &e) {
			if !n.Same {
				e.Slot = n.late.of.slot(k)
				n.Entries = append(n.Entries, e)
			}
			continue
		}
		n.unlike(from, k)
		if err != nil {
			e.Kind = kind
		}
		n.Flawed = n.Flawed || err != nil || e.Kind == disk.Dir
		if !disk.Gone(err) && e.Kind != disk.Dir {
			n.Entries = append(n.Entries, e)
		}
	}
}

// unlike records that n differs from the index from file k on. from is its first file.
func (n *dirNode) unlike(from, k int) {
	if !n.Same {
		return
	}
	n.Same = false
	for i := from; i < k; i++ {
		e := n.late.of.Entry(i)
		e.Slot = n.late.of.slot(i)
		n.Entries = append(n.Entries, e)
	}
}

// Wholly reports whether everything below n is unchanged since the index.
func (n *dirNode) Wholly() bool {
	n.Look()
	return n.Same && !slices.ContainsFunc(n.Dirs, func(d *dirNode) bool { return !d.Wholly() })
}

// PutOff leaves the stats of the files directly in n for later: n has not changed since b.
func (n *dirNode) PutOff(b *indexedTree) { n.late.of = b }

// Names yields the path and the kind of the files directly in n, sorted. It reads no stat.
func (n *dirNode) Names(yield func(path string, kind disk.Kind) bool) {
	if n.late.of != nil && !n.late.listed.Load() {
		for k, to := n.late.of.FilesOf(int(n.Was) - 1); k < to && yield(n.late.of.File(k)); k++ {
		}
		return
	}
	for i := range n.Entries {
		if e := &n.Entries[i]; !yield(e.Path, e.Kind) {
			return
		}
	}
}

// LookBelow reads the stats of all files below n, and lists them, with several workers; 0 is one
// per core.
func (n *dirNode) LookBelow(workers int) {
	_ = parallel.Run(context.Background(), workers, []*dirNode{n}, func() func(*dirNode) []*dirNode {
		return func(n *dirNode) []*dirNode {
			n.Files()
			return n.Dirs
		}
	})
}

// UnseenBelow appends n and its directories without stats to list.
func (n *dirNode) UnseenBelow(list []*dirNode) []*dirNode {
	if n.Unseen() {
		list = append(list, n)
	}
	for _, d := range n.Dirs {
		list = d.UnseenBelow(list)
	}
	return list
}
