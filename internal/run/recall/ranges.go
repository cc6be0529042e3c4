package recall

import (
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

// Ranges gives the digests of parts of a workspace. It is for one goroutine.
type Ranges struct {
	tree   *tree.Tree
	known  map[string]Range
	sketch fingerprint.Sketch
}

// NewRanges gives those of t.
func NewRanges(t *tree.Tree) *Ranges { return &Ranges{tree: t, known: make(map[string]Range)} }

// Of gives the digest of the file at a path, or of everything below it.
func (r *Ranges) Of(at string) Range {
	if d, ok := r.known[at]; ok {
		return d
	}
	s := &r.sketch
	s.Reset()
	w := s.Writer()
	add := func(entry tree.Entry) bool { return addFile(w, r.tree, entry) }
	d := Range{Known: true}
	if entry, ok := r.tree.Lookup(at); ok {
		d.Known = add(entry)
	}
	for _, entry := range r.tree.Under(at) {
		if d.Known = d.Known && add(entry); !d.Known {
			break
		}
	}
	if d.Known {
		d.Digest = s.Digest()
	}
	r.known[at] = d
	return d
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
