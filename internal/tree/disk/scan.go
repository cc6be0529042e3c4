package disk

// Item is a name in the directory that a Reader has open.
type Item struct {
	off, len uint32 // in the Reader's names
	Kind     Kind
}

func (s *Reader) Name(it *Item) []byte { return s.names[it.off : it.off+it.len] }
