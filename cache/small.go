package cache

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
)

// Small blobs are stored in the record. A separate file takes a block of the disk and an inode, which
// costs more than most tasks.
const (
	maxSmall    = 4 << 10  // size of one blob
	maxSmallAll = 16 << 10 // size of all blobs in a record
)

// With returns s with r's own blobs. Its Add puts small blobs into r. No other goroutine may use r
// meanwhile.
func (r *Record) With(s Store) Store { return &withRecord{Store: s, r: r} }

type withRecord struct {
	Store
	mu sync.Mutex // of r.Small
	r  *Record
}

// Open implements Store.
func (w *withRecord) Open(d Digest) (io.ReadCloser, error) {
	w.mu.Lock()
	data, own := w.r.Small[d]
	w.mu.Unlock()
	if own {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	return w.Store.Open(d)
}

// Add implements Store.
func (w *withRecord) Add(d Digest, from io.Reader) error {
	if known, ok := from.(interface{ Len() int }); ok && known.Len() > maxSmall {
		return w.Store.Add(d, from)
	}
	head := make([]byte, maxSmall+1)
	n, err := io.ReadFull(from, head)
	head = head[:n]
	switch {
	case err == nil:
		return w.Store.Add(d, io.MultiReader(bytes.NewReader(head), from))
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	if got := Sum(head); got != d {
		return &DigestError{Want: d, Got: got}
	}
	if w.keep(d, head) {
		return nil
	}
	return w.Store.Add(d, bytes.NewReader(head))
}

// keep puts a blob into the record if it has room.
func (w *withRecord) keep(d Digest, data []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r.smallSize()+len(data) > maxSmallAll {
		return false
	}
	w.r.addSmall(d, bytes.Clone(data))
	return true
}

func (r *Record) addSmall(d Digest, data []byte) {
	if r.Small == nil {
		r.Small = make(map[Digest][]byte)
	}
	r.Small[d] = data
}

func (r *Record) smallSize() (n int) {
	for _, data := range r.Small {
		n += len(data)
	}
	return n
}

// sortedSmall returns the digests of the small blobs, sorted.
func (r *Record) sortedSmall() []Digest {
	return slices.SortedFunc(maps.Keys(r.Small), func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
}
