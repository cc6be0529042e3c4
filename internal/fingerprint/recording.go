package fingerprint

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

// Recordings reads how the keys of records were made. Records that were stored
// together share a pack, so the last one is kept. It is for one goroutine.
type Recordings struct {
	store cache.Store
	sum   cache.Digest
	pack  *Unpacked
}

// NewRecordings gives the recordings of a store.
func NewRecordings(s cache.Store) *Recordings { return &Recordings{store: s} }

// Recording is what a record tells of how its key was made.
type Recording struct {
	Ingredients []Ingredient
	Blob        Blobs // what the ingredients refer to
}

// Of gives the recording under key. Of a key that the cache does not have, or that
// nothing is recorded of, the error is cache.ErrMiss.
func (rs *Recordings) Of(key cache.Key) (*Recording, error) {
	record, err := rs.store.Lookup(key)
	if err != nil {
		return nil, err
	}
	return rs.in(record)
}

func (rs *Recordings) in(record *cache.Record) (*Recording, error) {
	pack, err := rs.open(record.Recording)
	if err != nil {
		return nil, err
	}
	blob := pack.Blob(record.Ingredients)
	if blob == nil {
		return nil, fmt.Errorf("what made the key: %w", cache.ErrMiss)
	}
	list, err := DecodeIngredients(blob)
	return &Recording{Ingredients: list, Blob: pack.Blob}, err
}

func (rs *Recordings) open(d cache.Digest) (*Unpacked, error) {
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
	pack, err := DecodePack(data.Bytes())
	if err == nil {
		rs.sum, rs.pack = d, pack
	}
	return pack, err
}
