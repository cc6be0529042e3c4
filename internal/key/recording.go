package key

import (
	"bytes"
	"fmt"
	"io"

	"github.com/bentobuild/bento/cache"
)

// maxPack bounds what is read of a recorded pack, in bytes.
const maxPack = 256 << 20

// usualPack is how much room is made for one that says how large it is, in bytes.
const usualPack = 4 << 20

// recordings reads how the keys of records were made. Records that were stored
// together share a pack, so the last one is kept. It is for one goroutine.
type recordings struct {
	store cache.Store
	sum   cache.Digest
	pack  *unpacked
}

// newRecordings returns the recordings of a store.
func newRecordings(s cache.Store) *recordings { return &recordings{store: s} }

// recording is what a record tells of how its key was made.
type recording struct {
	Ingredients []ingredient
	Blob        blobs // what the ingredients refer to
}

// Of returns the recording under key. Of a key that the cache does not have, or that
// nothing is recorded of, the error is cache.ErrMiss.
func (rs *recordings) Of(key cache.Key) (*recording, error) {
	record, err := rs.store.Lookup(key)
	if err != nil {
		return nil, err
	}
	return rs.in(record)
}

func (rs *recordings) in(record *cache.Record) (*recording, error) {
	pack, err := rs.open(record.Recording)
	if err != nil {
		return nil, err
	}
	blob := pack.Blob(record.Ingredients)
	if blob == nil {
		return nil, fmt.Errorf("what made the key: %w", cache.ErrMiss)
	}
	list, err := decodeIngredients(blob)
	return &recording{Ingredients: list, Blob: pack.Blob}, err
}

func (rs *recordings) open(d cache.Digest) (*unpacked, error) {
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
