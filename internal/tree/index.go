package tree

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// indexName is the name of the index in the workspace's state.
const indexName = "index"

// Index maps the stat of each file to the digest of its content, including those of earlier runs. It
// is safe for concurrent use. Several processes may use its file: the last one to save wins.
type Index struct {
	tree  *Tree
	clock *disk.Clock
	reads atomic.Int64
	hash  sync.Pool // of *disk.Hasher

	saved *indexTable
	fresh fileStates
}

// Index returns the index of the workspace.
func (t *Tree) Index() *Index { return t.index }

// openIndex reads the index. It ignores one that is damaged, of another version or from the future.
func openIndex(t *Tree) *Index {
	ix := &Index{tree: t, clock: disk.NewClock(t.state), saved: &indexTable{}}
	ix.hash.New = func() any { return disk.NewHasher(t.stop) }
	if t.state == nil {
		return ix
	}
	payload, err := t.state.Load(indexName, tableVersion)
	if err != nil {
		return ix // every file is read again
	}
	if saved, err := readTable(payload); err == nil && saved.Saved() <= time.Now().UnixNano() {
		ix.saved = saved
	}
	return ix
}

// Empty reports whether the index has nothing from earlier runs.
func (ix *Index) Empty() bool { return ix.saved.Dirs() == 0 }

// Sum returns the BLAKE3 digest of the content of a regular file. It reads the file only if no
// digest is known for its stat. If the file no longer has the stat of e, Sum returns the digest of
// the state e if it was recorded, else that of the current state.
//
// The error is an *fs.PathError: the file is unreadable, not regular, or changes all the time.
func (ix *Index) Sum(e Entry) ([32]byte, error) {
	if sum, known := ix.recorded(&e); known {
		return sum, nil
	}
	k, ok := ix.fresh.Of(&e)
	if ok && k.Settled {
		return k.Sum, nil
	}
	if e.Kind != File {
		return [32]byte{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.ErrKind}
	}
	now, err := ix.read(&e)
	if ok && (err != nil || !now.SameStat(&e)) {
		return k.Sum, nil // the file has changed since: the caller asks for the earlier state
	}
	if err != nil {
		return [32]byte{}, err
	}
	return now.Sum, nil
}

// recorded returns the digest that the index has for a file with the stat of e.
func (ix *Index) recorded(e *Entry) (sum [32]byte, known bool) {
	if e.Slot > 0 {
		return ix.saved.Sum(int(e.Slot - 1))
	}
	if i := ix.saved.Find(e.Path); i >= 0 && ix.saved.Same(i, e) {
		return ix.saved.Sum(i)
	}
	return sum, false
}

// Reads returns the number of files whose content was read so far.
func (ix *Index) Reads() int64 { return ix.reads.Load() }

// read reads a file and records the result.
func (ix *Index) read(e *Entry) (fileState, error) {
	h := ix.hash.Get().(*disk.Hasher)
	defer ix.hash.Put(h)
	ix.reads.Add(1)
	looked := time.Now().UnixNano()
	found, sum, err := h.Same(ix.tree.root, e)
	if err != nil {
		return fileState{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.Bare(err)}
	}
	k := fileState{Entry: found, Sum: sum, Settled: ix.clock.Settled(&found, looked)}
	ix.fresh.Add(k)
	return k, nil
}

// Note records that the content of a file has the digest sum. e is a stat that the caller took after
// it verified the digest.
func (ix *Index) Note(e Entry, sum [32]byte) {
	if e.Kind == File {
		// A write between the read and the stat is visible only if the clock ticked in between.
		settled := ix.clock.Settled(&e, time.Now().UnixNano())
		ix.fresh.Add(fileState{Entry: e, Sum: sum, Settled: settled})
	}
}
