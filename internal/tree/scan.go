package tree

// item is a name in the directory that a scanner has open.
type item struct {
	off, len uint32 // in the scanner's names
	kind     Kind
}

func (s *scanner) name(it *item) []byte { return s.names[it.off : it.off+it.len] }

// statSelf sets all of e but its path to what the open directory is. The names
// that were listed are gone after it.
func (s *scanner) statSelf(e *Entry) error {
	s.names, s.items = append(s.names[:0], '.', 0), s.items[:0]
	return s.stat(&item{len: 1}, e)
}
