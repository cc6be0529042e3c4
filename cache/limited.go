package cache

import "io"

// Nothing is a Store that keeps nothing. It is used if no directory can be used.
type Nothing struct{}

// Lookup returns ErrMiss.
func (Nothing) Lookup(Key) (*Record, error) { return nil, ErrMiss }

// Record does nothing.
func (Nothing) Record(Key, *Record) error { return nil }

// Open returns ErrMiss.
func (Nothing) Open(Digest) (io.ReadCloser, error) { return nil, ErrMiss }

// Add reads r and discards it.
func (Nothing) Add(_ Digest, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// ReadOnly is a Store that keeps nothing new.
type ReadOnly struct{ Store }

// Record does nothing.
func (ReadOnly) Record(Key, *Record) error { return nil }

// Add reads r and discards it.
func (ReadOnly) Add(d Digest, r io.Reader) error { return Nothing{}.Add(d, r) }

// WriteOnly is a Store in which no record is found. Its blobs can be opened: a task reads blobs that
// another task of the same run has stored.
type WriteOnly struct{ Store }

// Lookup returns ErrMiss.
func (WriteOnly) Lookup(Key) (*Record, error) { return nil, ErrMiss }

// Keeps reports whether a result can be stored in s.
func Keeps(s Store) bool {
	switch s.(type) {
	case Nothing, ReadOnly:
		return false
	}
	return true
}

// DiskOf returns the Disk that s is or limits, nil for none.
func DiskOf(s Store) *Disk {
	switch s := s.(type) {
	case *Disk:
		return s
	case ReadOnly:
		return DiskOf(s.Store)
	case WriteOnly:
		return DiskOf(s.Store)
	}
	return nil
}
