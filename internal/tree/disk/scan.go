package disk

import (
	"bytes"
	"slices"
)

// Item is an entry in the directory that a Reader has open.
type Item struct {
	off, len uint32 // of the name in the Reader's names
	Kind     Kind
}

func (s *Reader) Name(it *Item) []byte { return s.names[it.off : it.off+it.len] }

// Sort sorts Items as if the names of directories had "/" at the end.
func (s *Reader) Sort() { slices.SortFunc(s.Items, s.order) }

func (s *Reader) order(a, b Item) int {
	an, bn := s.Name(&a), s.Name(&b)
	n := min(len(an), len(bn))
	if c := bytes.Compare(an[:n], bn[:n]); c != 0 {
		return c
	}
	return int(after(an, n, a.Kind)) - int(after(bn, n, b.Kind))
}

// after returns the byte at n or, at the end of the name, the byte that it is sorted by.
func after(name []byte, n int, kind Kind) byte {
	switch {
	case n < len(name):
		return name[n]
	case kind == Dir:
		return '/'
	}
	return 0
}
