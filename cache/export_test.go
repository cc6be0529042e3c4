package cache

// Has reports whether there is a record that Recent finds. It counts as use.
func (s *Disk) Has(key Key) bool {
	ok := s.Recent(key)
	if ok {
		s.Use(key)
	}
	return ok
}
