package outputs

import (
	"io"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
)

// copySize is the size of the copy buffer in bytes.
const copySize = 128 << 10

// copier copies and hashes with buffers that it keeps. The zero value is ready for use.
type copier struct {
	hash *blake3.Hasher
	buf  []byte
	stop <-chan struct{} // closed: copy ends with context.Canceled
}

// copy copies a file of an expected size. It returns the digest and the number of copied bytes:
// less than size for a shorter file, size or size+1 for a longer one.
func (c *copier) copy(to io.Writer, from io.Reader, size int64) (sum cache.Digest, n int64, err error) {
	if size <= copySize {
		return c.small(to, from, int(size))
	}
	if c.hash == nil {
		c.hash = blake3.New()
	}
	c.hash.Reset()
	c.buf = slices.Grow(c.buf[:0], copySize)[:copySize]
	n, err = io.CopyBuffer(onlyWriter{io.MultiWriter(c.hash, to)}, onlyReader{until{io.LimitReader(from, size+1), c.stop}}, c.buf)
	c.hash.Sum(sum[:0])
	return sum, n, err
}

func (c *copier) small(to io.Writer, from io.Reader, size int) (sum cache.Digest, n int64, err error) {
	c.buf = slices.Grow(c.buf[:0], size)[:size]
	got, err := io.ReadFull(from, c.buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	data := c.buf[:got]
	if err == nil && got > 0 {
		_, err = to.Write(data)
	}
	return cache.Sum(data), int64(got), err
}

// These types hide other methods of a reader or writer, so that a copy uses its buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
