package tree

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/tree/disk"
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

	saved table
	at    []uint32 // by slot of the walk's list: one more than the record in saved

	mu    sync.RWMutex
	fresh map[string][]known // found in this invocation, newest last
	dirty bool
}

// known is what a look at a file has found. Settled says that whoever has the same
// stat has the same content; without it that is only likely.
type known struct {
	record
	settled bool
}

// maxKnown bounds how many states of one file are kept.
const maxKnown = 8

// Index gives the index of the workspace. It is read on the first call; one that
// is damaged, of another version or from the future is not used.
func (t *Tree) Index() *Index {
	t.indexOnce.Do(func() {
		t.index = &Index{tree: t, clock: disk.NewClock(t.state), fresh: map[string][]known{}}
		t.index.hash.New = func() any { return disk.NewHasher() }
		t.index.load(time.Now())
	})
	return t.index
}

func (ix *Index) load(now time.Time) {
	if ix.tree.state == nil {
		return
	}
	payload, err := ix.tree.state.Load(indexName, indexVersion)
	if err != nil {
		return // all is read again
	}
	t, saved, err := readTable(payload)
	if err != nil || saved > now.UnixNano() {
		return
	}
	ix.saved = t
	ix.at = t.join(ix.tree.first)
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
	if i := ix.find(&e); i >= 0 && ix.saved.has(i, &e) {
		return ix.saved.sum(i), nil
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

// find gives the saved record for the path of e, -1 when there is none.
func (ix *Index) find(e *Entry) int {
	if s := int(e.Slot); s > 0 && s <= len(ix.at) && ix.tree.first[s-1].Path == e.Path {
		return int(ix.at[s-1]) - 1
	}
	return ix.saved.find(e.Path)
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
	k := known{record: record{found, sum}, settled: ix.clock.Settled(&found, looked)}
	ix.add(k)
	return k, nil
}

// Note tells that the content of a file has the digest sum. E is a look at the
// file since that was made sure.
func (ix *Index) Note(e Entry, sum [32]byte) {
	if e.Kind == File {
		// Whether somebody wrote before the look, only a tick in between can tell.
		settled := ix.clock.Settled(&e, time.Now().UnixNano())
		ix.add(known{record: record{Entry: e, sum: sum}, settled: settled})
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

// Save writes the index, if anything in it is new. An error costs no more than
// that the next run reads the same files again.
func (ix *Index) Save() error {
	if ix.tree.state == nil {
		return nil
	}
	ix.settle()
	if !ix.swapDirty(false) {
		return nil
	}
	w := ix.merge(ix.latest())
	if err := ix.tree.state.Store(indexName, indexVersion, w.payload(time.Now().UnixNano())); err != nil {
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

// merge makes a table of fresh records and of the saved ones that still hold.
func (ix *Index) merge(fresh []known) *tableWriter {
	w := &tableWriter{}
	i := 0
	addUpTo := func(path string, last bool) {
		for ; i < len(fresh) && (last || fresh[i].Path < path); i++ {
			if fresh[i].settled {
				w.add(&fresh[i].record)
			}
		}
	}
	for j := range ix.saved.n {
		path := string(ix.saved.path(j))
		addUpTo(path, false)
		if (i == len(fresh) || fresh[i].Path != path) && ix.holds(j, path) {
			w.keep(&ix.saved, j)
		}
	}
	addUpTo("", true)
	return w
}

// holds tells whether saved record i is of the file as it is.
func (ix *Index) holds(i int, path string) bool {
	e, ok := ix.tree.Lookup(path)
	if !ok {
		var err error
		if e, err = Stat(ix.tree.root, path); err != nil {
			return false // an ignored file that is gone
		}
	}
	return ix.saved.has(i, &e)
}
