package tree

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/recent"
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
	fresh recent.Files
}

// Index gives the index of the workspace.
func (t *Tree) Index() *Index { return t.index }

// openIndex reads the index; one that is damaged, of another version or from the
// future is not used.
func openIndex(t *Tree) *Index {
	ix := &Index{tree: t, clock: disk.NewClock(t.state), saved: &table.Table{}}
	ix.hash.New = func() any { return disk.NewHasher(t.stop) }
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

// Empty tells whether nothing is known from earlier runs.
func (ix *Index) Empty() bool { return ix.saved.Dirs() == 0 }

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
	k, ok := ix.fresh.Of(&e)
	if ok && k.Settled {
		return k.Sum, nil
	}
	if e.Kind != File {
		return [32]byte{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.ErrKind}
	}
	now, err := ix.read(&e)
	if ok && (err != nil || !now.SameStat(&e)) {
		return k.Sum, nil // gone on since: the state asked for is the one before
	}
	if err != nil {
		return [32]byte{}, err
	}
	return now.Sum, nil
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

// read reads a file and notes what it found.
func (ix *Index) read(e *Entry) (recent.State, error) {
	h := ix.hash.Get().(*disk.Hasher)
	defer ix.hash.Put(h)
	ix.reads.Add(1)
	looked := time.Now().UnixNano()
	found, sum, err := h.File(ix.tree.root, e.Path)
	if err != nil {
		return recent.State{}, &fs.PathError{Op: "read", Path: e.Path, Err: disk.Bare(err)}
	}
	k := recent.State{Entry: found, Sum: sum, Settled: ix.clock.Settled(&found, looked)}
	ix.fresh.Add(k)
	return k, nil
}

// Note tells that the content of a file has the digest sum. E is a look at the
// file since that was made sure.
func (ix *Index) Note(e Entry, sum [32]byte) {
	if e.Kind == File {
		// Whether somebody wrote before the look, only a tick in between can tell.
		settled := ix.clock.Settled(&e, time.Now().UnixNano())
		ix.fresh.Add(recent.State{Entry: e, Sum: sum, Settled: settled})
	}
}
