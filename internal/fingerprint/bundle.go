package fingerprint

import (
	"sync"

	"github.com/bentobuild/bento/cache"
)

// Bundle is a list of blobs that are recorded as one. The zero value is empty.
type Bundle struct {
	sums  []cache.Digest
	parts [][]byte
	whole sync.Once
	sum   cache.Digest
	data  []byte
}

// Add adds a blob and gives its digest.
func (b *Bundle) Add(data []byte) cache.Digest {
	d := cache.Sum(data)
	b.sums, b.parts = append(b.sums, d), append(b.parts, data)
	return d
}

// Each calls f with every blob.
func (b *Bundle) Each(f func(cache.Digest, []byte)) {
	for i, d := range b.sums {
		f(d, b.parts[i])
	}
}

// Whole gives all blobs as one. Nothing may be added any more. It is safe for
// concurrent use.
func (b *Bundle) Whole() (cache.Digest, []byte) {
	b.whole.Do(func() {
		b.data = EncodeBundle(b.parts...)
		b.sum = cache.Sum(b.data)
	})
	return b.sum, b.data
}
