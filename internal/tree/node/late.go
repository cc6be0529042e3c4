package node

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/tree/crew"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/table"
)

// Before is what the index says of directories, and the disk to compare it with.
type Before struct {
	*table.Table
	readers sync.Pool // of *disk.Reader
	all     atomic.Bool
}

// NewBefore gives what the index says of the directories in root.
func NewBefore(t *table.Table, root *disk.Root) *Before {
	b := &Before{Table: t}
	b.readers.New = func() any { return root.Reader() }
	return b
}

// LookAtAll says that all files will be looked at, so that nobody need look at one alone.
func (b *Before) LookAtAll() {
	if b != nil {
		b.all.Store(true)
	}
}

// late is for the files of a directory that is as the index says: their names are
// known then, and they are looked at once somebody asks for more.
type late struct {
	of     *Before // nil when nothing was put off
	mu     sync.Mutex
	seen   atomic.Bool // they were looked at
	listed atomic.Bool // they are among the entries, which they need not be while they are the same
}

// Unseen tells whether the files right in n were not looked at yet.
func (n *Node) Unseen() bool { return n.late.of != nil && !n.late.seen.Load() }

// Files gives the entries right in n, sorted.
func (n *Node) Files() []disk.Entry {
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

// File finds the file at path right in n. It looks at no other one while those need not
// be looked at.
func (n *Node) File(path string) (disk.Entry, bool) {
	if n.Unseen() && !n.late.of.all.Load() {
		from, to := n.late.of.FilesOf(int(n.Was) - 1)
		k := n.late.of.FindIn(from, to, path)
		if k < 0 {
			return disk.Entry{}, false
		}
		r := n.late.of.readers.Get().(*disk.Reader)
		defer n.late.of.readers.Put(r)
		e := disk.Entry{Path: path}
		if r.StatPath(path, &e) == nil && n.late.of.Same(k, &e) {
			e.Slot = n.late.of.slot(k)
			return e, true
		}
	}
	return disk.Find(n.Files(), path)
}

// Slot gives the Slot of e if it is as file k, else 0.
func (b *Before) Slot(k int, e *disk.Entry) uint32 {
	if !b.Same(k, e) {
		return 0
	}
	return b.slot(k)
}

// slot gives the Slot of what is as file k.
func (b *Before) slot(k int) uint32 {
	if _, known := b.Sum(k); known {
		return uint32(k + 1)
	}
	return 0
}

// Look looks at the files right in n, if that was put off.
func (n *Node) Look() {
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

// lookWith looks at the files right in n. One that is gone is left out, as if the
// directory were listed now; one that cannot be looked at stays, and fails whoever
// reads it.
func (n *Node) lookWith(r *disk.Reader) {
	from, to := n.late.of.FilesOf(int(n.Was) - 1)
	n.Same = true
	if from == to {
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

// unlike notes that n is not what the index says from file k on. From is its first one.
func (n *Node) unlike(from, k int) {
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

// Wholly tells whether everything below n is what the index says.
func (n *Node) Wholly() bool {
	n.Look()
	return n.Same && !slices.ContainsFunc(n.Dirs, func(d *Node) bool { return !d.Wholly() })
}

// PutOff has the files right in n looked at when somebody asks: n is as b says.
func (n *Node) PutOff(b *Before) { n.late.of = b }

// Names yields the path and the kind of the files right in n, sorted. It looks at
// nothing.
func (n *Node) Names(yield func(path string, kind disk.Kind) bool) {
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

// LookBelow looks at all files below n, and lists them, with several workers; 0 means
// one a core.
func (n *Node) LookBelow(workers int) {
	_ = crew.Run(context.Background(), workers, []*Node{n}, func() func(*Node) []*Node {
		return func(n *Node) []*Node {
			n.Files()
			return n.Dirs
		}
	})
}

// UnseenBelow adds n and what is below to list, where nobody has looked yet.
func (n *Node) UnseenBelow(list []*Node) []*Node {
	if n.Unseen() {
		list = append(list, n)
	}
	for _, d := range n.Dirs {
		list = d.UnseenBelow(list)
	}
	return list
}
