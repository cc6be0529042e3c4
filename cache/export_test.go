package cache

// Has reports whether Recent finds a record. The lookup is a use of the record.
func (s *Disk) Has(key Key) bool {
	ok := s.Recent(key)
	if ok {
		s.Use(key)
	}
	return ok
}
