package tree

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// TrackedDigest is a digest of what git tracks: it changes whenever the list does.
func (t *Tree) TrackedDigest() [32]byte { return t.outer.Basis.Tracked }

// Known is Sum, but never reads: ok is false where it would have to.
func (ix *Index) Known(e Entry) (sum [32]byte, ok bool) {
	if sum, ok := ix.recorded(&e); ok {
		return sum, true
	}
	k, ok := ix.recall(&e)
	return k.sum, ok && k.settled
}

// Stable tells whether a file or link that the walk has seen as e is sure to have
// another stat once somebody changes it. It does not try out the file system, and
// so is careful with what was changed in the last seconds.
func (t *Tree) Stable(e Entry) bool {
	if _, known := t.index.recorded(&e); known {
		return true
	}
	return e.LongAgo(t.walked)
}

// fewFiles is how many files are read one after the other.
const fewFiles = 8

// Read reads those of entries that nobody has read yet, several at a time. What cannot
// be read is found out again by Sum.
func (ix *Index) Read(entries []Entry) {
	var unread []Entry
	for _, e := range entries {
		if _, known := ix.Known(e); !known && e.Kind == File {
			unread = append(unread, e)
		}
	}
	if len(unread) < fewFiles {
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(unread)); i = next.Add(1) - 1 {
				_, _ = ix.Sum(unread[i])
			}
		})
	}
	wg.Wait()
}
