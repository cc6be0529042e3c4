package tree

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/tree/crew"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// late is for the files of a directory that is as the index says: their names are
// known then, and they are looked at once somebody asks for more.
type late struct {
	is     bool
	mu     sync.Mutex
	seen   atomic.Bool // they were looked at
	listed atomic.Bool // they are among the entries, which they need not be while they are the same
}

// unseen tells whether the files right in n were not looked at yet.
func (n *node) unseen() bool { return n.late.is && !n.late.seen.Load() }

// files gives the entries right in n, sorted.
func (t *Tree) files(n *node) []Entry {
	t.look(n)
	if !n.late.is || n.late.listed.Load() {
		return n.entries
	}
	n.late.mu.Lock()
	defer n.late.mu.Unlock()
	if !n.late.listed.Load() {
		from, to := t.index.saved.FilesOf(int(n.was) - 1)
		n.entries = make([]Entry, to-from)
		for i := range n.entries {
			n.entries[i] = t.index.saved.Entry(from + i)
			n.entries[i].Slot = t.slot(from + i)
		}
		n.late.listed.Store(true)
	}
	return n.entries
}

// slot gives the Slot of a file that is as number k of the index.
func (t *Tree) slot(k int) uint32 {
	if _, known := t.index.saved.Sum(k); known {
		return uint32(k + 1)
	}
	return 0
}

// look looks at the files right in n, if that was put off.
func (t *Tree) look(n *node) {
	if !n.unseen() {
		return
	}
	n.late.mu.Lock()
	defer n.late.mu.Unlock()
	if n.late.seen.Load() {
		return
	}
	r := t.readers.Get().(*disk.Reader)
	defer t.readers.Put(r)
	t.lookWith(r, n)
	n.late.seen.Store(true)
}

// lookWith looks at the files right in n. One that is gone is left out, as if the
// directory were listed now; one that cannot be looked at stays, and fails whoever
// reads it.
func (t *Tree) lookWith(r *disk.Reader, n *node) {
	from, to := t.index.saved.FilesOf(int(n.was) - 1)
	n.same = true
	if from == to {
		return
	}
	failed := r.Open(n.path, n.stamp.Dev)
	defer r.Close()
	for k := from; k < to; k++ {
		path, kind := t.index.saved.File(k)
		e, err := Entry{Path: path}, failed
		if err == nil {
			err = r.StatName(path[len(path)-nameLen(path, n.path):], &e)
		}
		if err == nil && t.index.saved.Same(k, &e) {
			if !n.same {
				e.Slot = t.slot(k)
				n.entries = append(n.entries, e)
			}
			continue
		}
		t.unlike(n, from, k)
		if err != nil {
			e.Kind = kind
		}
		n.flawed = n.flawed || err != nil || e.Kind == Dir
		if !disk.Gone(err) && e.Kind != Dir {
			n.entries = append(n.entries, e)
		}
	}
}

// unlike notes that n is not what the index says from file k on. From is its first one.
func (t *Tree) unlike(n *node, from, k int) {
	if !n.same {
		return
	}
	n.same = false
	for i := from; i < k; i++ {
		e := t.index.saved.Entry(i)
		e.Slot = t.slot(i)
		n.entries = append(n.entries, e)
	}
	n.late.listed.Store(true)
}

// lookBelow looks at all files below n, and lists them.
func (t *Tree) lookBelow(n *node) {
	_ = crew.Run(context.Background(), t.workers, []*node{n}, func() func(*node) []*node {
		return func(n *node) []*node {
			t.files(n)
			return n.dirs
		}
	})
}

// LookAhead begins to look at all files, for who is going to ask about most of them.
// It returns at once.
func (t *Tree) LookAhead(ctx context.Context) {
	t.mu.RLock()
	list := t.top.unseenBelow(nil)
	t.mu.RUnlock()
	go func() {
		// The last one first: others ask for the first one first.
		for i := len(list) - 1; i >= 0 && ctx.Err() == nil; i-- {
			t.look(list[i])
		}
	}()
}

func (n *node) unseenBelow(list []*node) []*node {
	if n.unseen() {
		list = append(list, n)
	}
	for _, d := range n.dirs {
		list = d.unseenBelow(list)
	}
	return list
}
