package key

import (
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// rangeDigest is the digest of everything in a part of the workspace. Known is false when
// it is unknown without reading files, or without following links.
type rangeDigest struct {
	Digest sketch
	Known  bool
}

// rangeDigests gives the digests of parts of a workspace. It is safe for concurrent use.
type rangeDigests struct {
	tree    *tree.Tree
	writers sync.Pool // of *pack.Writer

	mu    sync.Mutex
	known map[string]func() rangeDigest
}

// newRangeDigests returns those of t.
func newRangeDigests(t *tree.Tree) *rangeDigests {
	r := &rangeDigests{tree: t, known: make(map[string]func() rangeDigest)}
	r.writers.New = func() any { return new(pack.Writer) }
	return r
}

// Of returns the digest of the file at a path, or of everything below it.
func (r *rangeDigests) Of(at string) rangeDigest {
	r.mu.Lock()
	f := r.known[at]
	if f == nil {
		f = sync.OnceValue(func() rangeDigest { return r.of(at) })
		r.known[at] = f
	}
	r.mu.Unlock()
	return f()
}

func (r *rangeDigests) of(at string) (d rangeDigest) {
	w := r.writers.Get().(*pack.Writer)
	defer r.writers.Put(w)
	w.Reset()
	if entry, ok := r.tree.Lookup(at); ok && !addFile(w, r.tree, entry) {
		return d
	}
	below, known := r.tree.Digest(at)
	w.Raw(below[:])
	return rangeDigest{Digest: sketchFields(w), Known: known}
}

// addFile adds a file by its content, and an unread file, which is not an input, by its stat.
func addFile(w *pack.Writer, t *tree.Tree, entry tree.Entry) bool {
	if entry.Kind != tree.File {
		return false
	}
	w.String(entry.Path)
	if Executable(entry.Mode) {
		w.Byte(1)
	}
	if sum, known := t.Index().Known(entry); known {
		w.Raw(sum[:])
		return true
	}
	for _, v := range []int64{entry.Size, entry.Mtime, entry.Ctime} {
		w.Uint(uint64(v))
	}
	w.Uint(entry.Ino)
	return t.Stable(entry)
}

// sketch is the digest of everything that a set of files is a function of. It never leaves
// the workspace.
type sketch [32]byte

// sketchFields returns the sketch of the fields in w.
func sketchFields(w *pack.Writer) sketch { return blake3.Sum256(w.Payload()) }
