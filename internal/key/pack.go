package key

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/pack"
)

// A pack is a blob that contains other small blobs, which are stored together. It has a line that
// names the format, the number of blobs, the digest and the length of each blob in the order of the
// digests, and then the bytes of the blobs in the same order.
const packMagic = "bento pack 1\n"

// Pack collects the blobs of a pack. The zero value is empty.
type Pack struct {
	blobs map[cache.Digest][]byte
	size  int
	sets  map[*sourceSet]bool // the sets whose blobs it has
}

// putSet adds the blobs of a set.
func (p *Pack) putSet(s *sourceSet) {
	if p.sets == nil {
		p.sets = make(map[*sourceSet]bool)
	}
	if !p.sets[s] {
		p.sets[s] = true
		s.made.Each(p.Put)
	}
	s.named.Each(p.Put) // perhaps made later
}

// Add adds a blob and returns its digest.
func (p *Pack) Add(data []byte) cache.Digest {
	d := cache.Sum(data)
	p.Put(d, data)
	return d
}

// Put adds a blob whose digest is known.
func (p *Pack) Put(d cache.Digest, data []byte) {
	if p.blobs == nil {
		p.blobs = make(map[cache.Digest][]byte)
	}
	if _, had := p.blobs[d]; !had {
		p.blobs[d] = data
		p.size += len(data)
	}
}

// Size returns the size of the blobs in bytes.
func (p *Pack) Size() int { return p.size }

// Each calls f with every blob, in no order.
func (p *Pack) Each(f func(cache.Digest, []byte)) {
	for d, data := range p.blobs {
		f(d, data)
	}
}

// Encode returns the pack.
func (p *Pack) Encode() []byte {
	sums := slices.SortedFunc(maps.Keys(p.blobs), compareDigests)
	var w pack.Writer
	w.Grow(p.Size() + len(sums)*(len(cache.Digest{})+binary.MaxVarintLen64) + 32)
	w.Raw([]byte(packMagic))
	w.Uint(uint64(len(sums)))
	for _, d := range sums {
		w.Raw(d[:])
		w.Uint(uint64(len(p.blobs[d])))
	}
	for _, d := range sums {
		w.Raw(p.blobs[d])
	}
	return w.Payload()
}

func compareDigests(a, b cache.Digest) int { return bytes.Compare(a[:], b[:]) }

// unpacked is a decoded pack.
type unpacked struct {
	sums  []cache.Digest // sorted
	blobs [][]byte
}

// decodePack reads a pack that Encode returned. The blobs share memory with data. It does not check
// their digests: the store has checked that of the pack.
func decodePack(data []byte) (*unpacked, error) {
	r, err := open(data, packMagic)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	var u unpacked
	n := r.Count(uint64(len(cache.Digest{})) + 1)
	sizes := make([]uint64, n)
	u.sums, u.blobs = make([]cache.Digest, n), make([][]byte, n)
	for i := range u.sums {
		copy(u.sums[i][:], r.Raw(uint64(len(u.sums[i]))))
		sizes[i] = r.Uint()
	}
	for i, size := range sizes {
		u.blobs[i] = r.Raw(size)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if !slices.IsSortedFunc(u.sums, compareDigests) {
		return nil, fmt.Errorf("pack: its blobs are not in order: %w", pack.ErrFormat)
	}
	return &u, nil
}

// Blob returns a blob of the pack, nil for a missing one.
func (u *unpacked) Blob(d cache.Digest) []byte {
	if i, found := slices.BinarySearchFunc(u.sums, d, compareDigests); found {
		return u.blobs[i]
	}
	return nil
}
