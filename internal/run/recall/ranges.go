package recall

import (
	"sync"

	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Range is the digest of everything in a part of the workspace. Known is false when
// it cannot be told without reading files, or without following links.
type Range struct {
	Digest [32]byte
	Known  bool
}

// Ranges gives the digests of parts of a workspace. It is safe for concurrent use.
type Ranges struct {
	tree     *tree.Tree
	sketches sync.Pool // of *fingerprint.Sketch

	mu    sync.Mutex
	known map[string]func() Range
}

// NewRanges gives those of t.
func NewRanges(t *tree.Tree) *Ranges {
	r := &Ranges{tree: t, known: make(map[string]func() Range)}
	r.sketches.New = func() any { return new(fingerprint.Sketch) }
	return r
}

// Of gives the digest of the file at a path, or of everything below it.
func (r *Ranges) Of(at string) Range {
	r.mu.Lock()
	f := r.known[at]
	if f == nil {
		f = sync.OnceValue(func() Range { return r.of(at) })
		r.known[at] = f
	}
	r.mu.Unlock()
	return f()
}

func (r *Ranges) of(at string) (d Range) {
	s := r.sketches.Get().(*fingerprint.Sketch)
	defer r.sketches.Put(s)
	s.Reset()
	if entry, ok := r.tree.Lookup(at); ok && !addFile(s.Writer(), r.tree, entry) {
		return d
	}
	below, known := r.tree.Digest(at)
	s.Writer().Raw(below[:])
	return Range{Digest: s.Digest(), Known: known}
}

// addFile adds a file by its content; one that nobody has read yet, because it is no
// input, by its stat.
func addFile(w *state.Writer, t *tree.Tree, entry tree.Entry) bool {
	if entry.Kind != tree.File {
		return false
	}
	w.String(entry.Path)
	if fingerprint.Executable(entry.Mode) {
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
