package key

import (
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// rangeDigest is the digest of all files in a part of the workspace. Known is false if bento would
// have to read files for it, or if a link leads out of the workspace.
type rangeDigest struct {
	Digest validator
	Known  bool
	Plain  bool // it has only regular files and directories
}

// rangeDigests computes the digests of parts of a workspace. It is safe for concurrent use.
type rangeDigests struct {
	tree    *tree.Tree
	writers sync.Pool // of *pack.Writer

	mu    sync.Mutex
	known map[string]*onceDigest
	kinds map[string]rangeKind // of paths that were not walked
}

// rangeKind says how the files at a path that was not walked are known.
type rangeKind byte

const (
	rangePlain   rangeKind = iota + 1 // no such file, or one like any other
	rangeLinked                       // a link leads there
	rangeIgnored                      // git ignores it
)

// Kind returns the kind of a path, which look finds once.
func (r *rangeDigests) Kind(at string, look func(at string) rangeKind) rangeKind {
	r.mu.Lock()
	kind := r.kinds[at]
	r.mu.Unlock()
	if kind == 0 {
		kind = look(at)
		r.mu.Lock()
		r.kinds[at] = kind
		r.mu.Unlock()
	}
	return kind
}

// onceDigest is a digest that is computed once.
type onceDigest struct {
	once sync.Once
	rangeDigest
}

// newRangeDigests returns the rangeDigests of t.
func newRangeDigests(t *tree.Tree) *rangeDigests {
	r := &rangeDigests{tree: t, known: make(map[string]*onceDigest), kinds: make(map[string]rangeKind)}
	r.writers.New = func() any { return new(pack.Writer) }
	return r
}

// Of returns the digest of the file at a path, or of everything below it.
func (r *rangeDigests) Of(at string) rangeDigest {
	r.mu.Lock()
	d := r.known[at]
	if d == nil {
		d = new(onceDigest)
		r.known[at] = d
	}
	r.mu.Unlock()
	d.once.Do(func() { d.rangeDigest = r.of(at) })
	return d.rangeDigest
}

func (r *rangeDigests) of(at string) (d rangeDigest) {
	w := r.writers.Get().(*pack.Writer)
	defer r.writers.Put(w)
	w.Reset()
	if entry, ok := r.tree.Lookup(at); ok && !addFile(w, r.tree, entry) {
		return d
	}
	below, known := r.tree.Digest(at)
	if known && len(w.Payload()) == 0 {
		return rangeDigest{Digest: below, Known: true, Plain: true} // a directory, mostly
	}
	if w.Raw(below[:]); !known {
		known = addBelow(w, r.tree, at)
	}
	return rangeDigest{Digest: sumFields(w), Known: known}
}

// addBelow adds the files below a directory one by one, and the targets of links among them.
func addBelow(w *pack.Writer, t *tree.Tree, dir string) bool {
	below := t.Under(dir)
	w.Grow(len(below) * 96) // mostly a path and a digest
	for _, e := range below {
		if !addFile(w, t, e) && !addLink(w, t, e) {
			return false
		}
	}
	return true
}

// addLink adds a link and everything that fileReader.digestOfTarget reads. It returns false for a link
// that leads out of the workspace, so that the warning is repeated.
func addLink(w *pack.Writer, t *tree.Tree, link tree.Entry) bool {
	if link.Kind != tree.Link {
		return false
	}
	target, err := t.Readlink(link)
	at, inside, ferr := follow(t, link)
	if err != nil || ferr != nil || !inside {
		return false
	}
	w.String(link.Path)
	w.String(target)
	w.String(at)
	if at == "" || Inside(link.Path, at) {
		return true
	}
	if e, ok := t.Lookup(at); ok {
		return addFile(w, t, e)
	}
	for _, e := range t.Under(at) {
		if addFile(w, t, e) {
			continue
		}
		if target, err = t.Readlink(e); err != nil || e.Kind != tree.Link {
			return false
		}
		w.String(e.Path)
		w.String(target)
	}
	return true
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

// validator is the digest of everything that decides a set of files and their content. While it is
// the same, the remembered digest of the set is valid. It never leaves the workspace.
type validator [32]byte

// sumFields returns the validator of the fields in w.
func sumFields(w *pack.Writer) validator { return blake3.Sum256(w.Payload()) }
