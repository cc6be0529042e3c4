package key

import (
	"bytes"
	"fmt"
	"io"

	"github.com/bentobuild/bento/cache"
)

// maxPack is the largest pack that is read, in bytes.
const maxPack = 256 << 20

// usualPack is the largest buffer that the stated size of a pack reserves, in bytes.
const usualPack = 4 << 20

// provenanceReader reads the provenance of keys from the cache. Records that were stored together
// share a pack, so it caches the last pack. It is for one goroutine.
type provenanceReader struct {
	store cache.Store
	sum   cache.Digest
	pack  *unpacked
}

// newProvenanceReader returns a reader of a store.
func newProvenanceReader(s cache.Store) *provenanceReader { return &provenanceReader{store: s} }

// provenance is the ingredients of a key, and the blobs that they refer to.
type provenance struct {
	Ingredients []ingredient
	Blob        blobs // the blobs that the ingredients refer to
}

// Of returns the provenance of key. If the cache has no record of the key, or no provenance, the
// error is cache.ErrMiss.
func (rs *provenanceReader) Of(key cache.Key) (*provenance, error) {
	record, err := rs.store.Lookup(key)
	if err != nil {
		return nil, err
	}
	return rs.in(record)
}

func (rs *provenanceReader) in(record *cache.Record) (*provenance, error) {
	pack, err := rs.open(record.Pack)
	if err != nil {
		return nil, err
	}
	blob := pack.Blob(record.Ingredients)
	if blob == nil {
		return nil, fmt.Errorf("what made the key: %w", cache.ErrMiss)
	}
	list, err := decodeIngredients(blob)
	return &provenance{Ingredients: list, Blob: pack.Blob}, err
}

func (rs *provenanceReader) open(d cache.Digest) (*unpacked, error) {
	if rs.pack != nil && rs.sum == d {
		return rs.pack, nil
	}
	f, err := rs.store.Open(d)
	if err != nil {
		return nil, fmt.Errorf("what made the key: %w", err)
	}
	defer f.Close()
	var data bytes.Buffer
	if sized, ok := f.(interface{ Size() int64 }); ok {
		data.Grow(int(min(sized.Size(), usualPack)) + bytes.MinRead)
	}
	if _, err := data.ReadFrom(io.LimitReader(f, maxPack)); err != nil {
		return nil, err
	}
	pack, err := decodePack(data.Bytes())
	if err == nil {
		rs.sum, rs.pack = d, pack
	}
	return pack, err
}
