package disk

// Item is a name in the directory that a Reader has open.
type Item struct {
	off, len uint32 // in the Reader's names
	Kind     Kind
}

func (s *Reader) Name(it *Item) []byte { return s.names[it.off : it.off+it.len] }

// StatSelf sets all of e but its path to what the open directory is. The names
// that were listed are gone after it.
func (s *Reader) StatSelf(e *Entry) error {
	s.names, s.Items = append(s.names[:0], '.', 0), s.Items[:0]
	return s.Stat(&Item{len: 1}, e)
}
