package fingerprint

import (
	"fmt"
	"io"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/state"
)

// A bundle is a blob that holds others, which are small and used together: a line
// that names the format, then the parts.
const bundleMagic = "bento bundle 1\n"

// maxBlob bounds what is read of a recorded blob.
const maxBlob = 256 << 20

// EncodeBundle gives the blob that holds parts.
func EncodeBundle(parts ...[]byte) []byte {
	var w state.Writer
	w.Raw([]byte(bundleMagic))
	w.Uint(uint64(len(parts)))
	for _, p := range parts {
		w.Uint(uint64(len(p)))
		w.Raw(p)
	}
	return w.Payload()
}

// DecodeBundle reads what EncodeBundle wrote. The parts share memory with blob.
func DecodeBundle(blob []byte) ([][]byte, error) {
	r, err := open(blob, bundleMagic)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	var parts [][]byte
	for range r.Count(1) {
		parts = append(parts, r.Raw(r.Uint()))
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return parts, nil
}

// Recording is what a record tells of how its key was made: a bundle of the
// ingredients and of what they refer to, and further ones of other dishes. It is
// for one goroutine.
type Recording struct {
	Ingredients []Ingredient

	store  cache.Store
	parts  map[cache.Digest][]byte
	unread []cache.Digest
}

// Recorded gives the recording under key. Of a key that the cache does not have, or
// that nothing is recorded of, the error is cache.ErrMiss.
func Recorded(s cache.Store, key cache.Key) (*Recording, error) {
	record, err := s.Lookup(key)
	if err != nil {
		return nil, err
	}
	return recordingOf(s, record)
}

func recordingOf(s cache.Store, record *cache.Record) (*Recording, error) {
	r := &Recording{store: s, parts: make(map[cache.Digest][]byte), unread: record.Refs}
	parts := r.read(record.Ingredients)
	if len(parts) == 0 {
		return nil, fmt.Errorf("what made the key: %w", cache.ErrMiss)
	}
	var err error
	r.Ingredients, err = DecodeIngredients(parts[0])
	return r, err
}

// Blob gives what the ingredients refer to by a digest; nil when it is not recorded
// any more.
func (r *Recording) Blob(d cache.Digest) []byte {
	for r.parts[d] == nil && len(r.unread) > 0 {
		next := r.unread[0]
		r.unread = r.unread[1:]
		r.read(next)
	}
	return r.parts[d]
}

// read reads a bundle.
func (r *Recording) read(d cache.Digest) [][]byte {
	f, err := r.store.Open(d)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBlob))
	if err != nil {
		return nil
	}
	parts, err := DecodeBundle(data)
	if err != nil {
		return nil
	}
	for _, p := range parts {
		r.parts[cache.Sum(p)] = p
	}
	return parts
}
