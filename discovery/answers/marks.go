package answers

import (
	"fmt"
	"path"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Mark is a file or directory of the workspace whose name an adapter knows.
type Mark struct {
	Path string // relative to the root
	Kind tree.Kind
}

// marks tell what Detect may have seen: files whose names an adapter knows, in a
// directory, in those above it, and anywhere below it.
type marks struct {
	who    [32]byte                 // the adapters
	own    map[string][32]byte      // by directory relative to the root: of what is right in it
	inside map[string]*state.Writer // the own ones of it and all below
	unsure map[string]bool          // directories with a link right in them, which may lead anywhere
	sums   map[string]markSum
}

type markSum struct {
	sum   [32]byte
	known bool
}

// newMarks gives those of a workspace; ok is false when some file cannot be read.
func newMarks(o *Options) (m *marks, ok bool) {
	m = &marks{own: make(map[string][32]byte), inside: make(map[string]*state.Writer), unsure: make(map[string]bool), sums: make(map[string]markSum)}
	var w state.Writer
	for _, a := range o.Adapters {
		w.String(a.Manifest().AdapterID)
		w.String(a.Manifest().Identity)
	}
	m.who = blake3.Sum256(w.Payload())
	for from := 0; from < len(o.Marks); {
		dir, to := path.Dir(o.Marks[from].Path), from
		w.Reset()
		for ; to < len(o.Marks) && path.Dir(o.Marks[to].Path) == dir; to++ {
			if !addMark(&w, o.Tree, o.Marks[to]) {
				return nil, false
			}
			if o.Marks[to].Kind == tree.Link {
				m.unsure[dir] = true
			}
		}
		m.add(dir, w.Payload())
		from = to
	}
	return m, true
}

func addMark(w *state.Writer, files *tree.Tree, mark Mark) bool {
	w.String(mark.Path)
	e := tree.Entry{Kind: tree.Dir}
	if mark.Kind != tree.Dir {
		e, _ = files.Lookup(mark.Path) // zero if it is gone since
	}
	if e.Kind != tree.File {
		w.String(fmt.Sprint(e.Kind, e.Size, e.Stamp()))
		return true
	}
	sum, err := files.Index().Sum(e)
	w.Raw(sum[:])
	return err == nil
}

// add adds what is right in dir.
func (m *marks) add(dir string, payload []byte) {
	before := m.own[dir]
	m.own[dir] = blake3.Sum256(append(before[:], payload...))
	for at := range aboveAnd(dir) {
		in := m.inside[at]
		if in == nil {
			in = new(state.Writer)
			m.inside[at] = in
		}
		in.String(dir)
		in.Raw(payload)
	}
}

// of gives the digest of what counts for a directory relative to the root. It is not
// known where links are part of it.
func (m *marks) of(dir string) (sum [32]byte, known bool) {
	s, done := m.sums[dir]
	if !done {
		s = m.sum(dir)
		m.sums[dir] = s
	}
	return s.sum, s.known
}

func (m *marks) sum(dir string) markSum {
	var w state.Writer
	w.Raw(m.who[:])
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
	if in := m.inside[dir]; in != nil {
		w.Raw(in.Payload())
	}
	return markSum{blake3.Sum256(w.Payload()), true}
}

// aboveAnd yields dir and those above it, "." last.
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
