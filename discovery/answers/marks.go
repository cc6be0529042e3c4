package answers

import (
	"path"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/tree"
)

// Mark is a file or directory of the workspace whose name an adapter looks for.
type Mark struct {
	Path string // relative to the root
	Kind tree.Kind
}

// marks digest the files that Detect may read: those with names that adapters look for, in a
// directory, above it, and anywhere below it.
type marks struct {
	adapters [32]byte            // digest of the adapters
	own      map[string][32]byte // by directory relative to the root: digest of the marks directly in it
	inside   map[string]span     // by directory: the part of text with the marks in it and below it
	text     pack.Writer
	unsure   map[string]bool // directories that directly contain a link, which may lead anywhere
	sums     map[string]markSum
}

// span is a part of a text.
type span struct{ from, to int }

type markSum struct {
	sum   [32]byte
	known bool
}

// newMarks returns the marks of a workspace; ok is false when a file cannot be read. Those below a
// directory follow each other.
func newMarks(o *Options) (m *marks, ok bool) {
	m = &marks{own: make(map[string][32]byte), inside: make(map[string]span), unsure: make(map[string]bool), sums: make(map[string]markSum)}
	var w pack.Writer
	for _, a := range o.Adapters {
		w.String(a.Manifest().AdapterID)
		w.String(a.Manifest().Identity)
	}
	m.adapters = blake3.Sum256(w.Payload())
	digests := parallel.Map(o.Marks, func() *tree.Tree { return o.Tree }, digestOf)
	for from := 0; from < len(o.Marks); {
		dir, to := path.Dir(o.Marks[from].Path), from
		w.Reset()
		for ; to < len(o.Marks) && path.Dir(o.Marks[to].Path) == dir; to++ {
			if digests[to].err != nil {
				return nil, false
			}
			w.String(o.Marks[to].Path)
			w.Raw(digests[to].text)
			if o.Marks[to].Kind == tree.Link {
				m.unsure[dir] = true
			}
		}
		m.add(dir, w.Payload())
		from = to
	}
	return m, true
}

// markDigest is the digest or kind of a mark.
type markDigest struct {
	text []byte
	err  error
}

// digestOf returns the digest of a file, or the kind of another mark.
func digestOf(files *tree.Tree, mark Mark) markDigest {
	if mark.Kind != tree.File {
		return markDigest{text: []byte{byte(mark.Kind)}}
	}
	e, ok := files.Lookup(mark.Path)
	if !ok { // removed since
		return markDigest{text: []byte{0}}
	}
	sum, err := files.Index().Sum(e)
	return markDigest{sum[:], err}
}

// add adds a mark directly in dir.
func (m *marks) add(dir string, payload []byte) {
	before := m.own[dir]
	m.own[dir] = blake3.Sum256(append(before[:], payload...))
	from := len(m.text.Payload())
	m.text.String(dir)
	m.text.Raw(payload)
	for at := range aboveAnd(dir) {
		in, more := m.inside[at]
		if !more {
			in.from = from
		}
		in.to = len(m.text.Payload())
		m.inside[at] = in
	}
}

// of returns the digest of the marks that affect a directory relative to the root. If one of them is a
// link, known is false.
func (m *marks) of(dir string) (sum [32]byte, known bool) {
	s, done := m.sums[dir]
	if !done {
		s = m.sum(dir)
		m.sums[dir] = s
	}
	return s.sum, s.known
}

func (m *marks) sum(dir string) markSum {
	var w pack.Writer
	w.Raw(m.adapters[:])
	for at := range aboveAnd(dir) {
		if m.unsure[at] {
			return markSum{}
		}
		sum := m.own[at]
		w.Raw(sum[:])
	}
	for at := range m.unsure {
		if dir == "." || strings.HasPrefix(at, dir+"/") {
			return markSum{}
		}
	}
	if in, found := m.inside[dir]; found {
		w.Raw(m.text.Payload()[in.from:in.to])
	}
	return markSum{blake3.Sum256(w.Payload()), true}
}

// aboveAnd yields dir and its parents, "." last.
func aboveAnd(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for ; dir != "." && dir != ""; dir = dir[:max(0, strings.LastIndexByte(dir, '/'))] {
			if !yield(dir) {
				return
			}
		}
		yield(".")
	}
}
