package tree

import (
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/table"
)

// indexName is the name of the index in the workspace's state.
const indexName = "index"

// Index knows the digest of each file's content by the file's stat, also from
// earlier runs. It is safe for concurrent use, and so is the file, by several
// processes: the last one to save wins.
type Index struct {
	tree  *Tree
	clock *disk.Clock
	reads atomic.Int64
	hash  sync.Pool // of *disk.Hasher

	saved *table.Table

	mu    sync.RWMutex
	fresh map[string][]known // found in this invocation, newest last
	dirty bool
}

// known is what a look at a file has found. Settled says that whoever has the same
// stat has the same content; without it that is only likely.
type known struct {
	Entry
	sum     [32]byte
	settled bool
}

// maxKnown bounds how many states of one file are kept.
const maxKnown = 8

// Index gives the index of the workspace.
func (t *Tree) Index() *Index { return t.index }

// openIndex reads the index; one that is damaged, of another version or from the
// future is not used.
func openIndex(t *Tree) *Index {
	ix := &Index{tree: t, clock: disk.NewClock(t.state), saved: &table.Table{}, fresh: map[string][]known{}}
	ix.hash.New = func() any { return disk.NewHasher() }
	if t.state == nil {
		return ix
	}
	payload, err := t.state.Load(indexName, table.Version)
	if err != nil {
		return ix // all is read again
	}
	if saved, err := table.Read(payload); err == nil && saved.Saved() <= time.Now().UnixNano() {
		ix.saved = saved
	}
	return ix
}

// Reads gives how many files were read so far.
func (ix *Index) Reads() int64 { return ix.reads.Load() }

// Sum gives the BLAKE3 digest of the content of a regular file. It reads the file
// only if that is not known for a file with the same stat. If the file is not any
// more as e says, the digest is that of the state that e says if it was ever asked
// for, else that of what is there now.
//
// The error is an *fs.PathError: the file cannot be read, is none, or changes
// all the time.
func (ix *Index) Sum(e Entry) ([32]byte, error) {
	if sum, known := ix.recorded(&e); known {
		return sum, nil
	}
	k, ok := ix.recall(&e)
	if ok && k.settled {
		return k.sum, nil
	}
	if e.Kind != File {
		return [32]byte{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.ErrKind}
	}
	now, err := ix.read(&e)
	if ok && (err != nil || !now.SameStat(&e)) {
		return k.sum, nil // gone on since: the state asked for is the one before
	}
	if err != nil {
		return [32]byte{}, err
	}
	return now.sum, nil
}

// recorded gives what the index says of a file with the stat of e.
func (ix *Index) recorded(e *Entry) (sum [32]byte, known bool) {
	if e.Slot > 0 {
		return ix.saved.Sum(int(e.Slot - 1))
	}
	if i := ix.saved.Find(e.Path); i >= 0 && ix.saved.Same(i, e) {
		return ix.saved.Sum(i)
	}
	return sum, false
}

// recall gives what was found in this invocation for the stat of e.
func (ix *Index) recall(e *Entry) (known, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for _, k := range slices.Backward(ix.fresh[e.Path]) {
		if k.SameStat(e) {
			return k, true
		}
	}
	return known{}, false
}

// read reads a file and notes what it found.
func (ix *Index) read(e *Entry) (known, error) {
	h := ix.hash.Get().(*disk.Hasher)
	defer ix.hash.Put(h)
	ix.reads.Add(1)
	looked := time.Now().UnixNano()
	found, sum, err := h.File(ix.tree.root, e.Path)
	if err != nil {
		return known{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.Bare(err)}
	}
	k := known{Entry: found, sum: sum, settled: ix.clock.Settled(&found, looked)}
	ix.add(k)
	return k, nil
}

// Note tells that the content of a file has the digest sum. E is a look at the
// file since that was made sure.
func (ix *Index) Note(e Entry, sum [32]byte) {
	if e.Kind == File {
		// Whether somebody wrote before the look, only a tick in between can tell.
		settled := ix.clock.Settled(&e, time.Now().UnixNano())
		ix.add(known{Entry: e, sum: sum, settled: settled})
	}
}

func (ix *Index) add(k known) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	k.Slot = 0
	list := slices.DeleteFunc(ix.fresh[k.Path], func(o known) bool { return o.SameStat(&k.Entry) })
	if len(list) == maxKnown {
		list = slices.Delete(list, 0, 1)
	}
	ix.fresh[k.Path] = append(list, k)
	ix.dirty = ix.dirty || k.settled
}
