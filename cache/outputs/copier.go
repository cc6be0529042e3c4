package outputs

import (
	"io"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
)

// copySize is how much is copied at a time, and what is copied in one piece.
const copySize = 128 << 10

// copier copies and hashes, with buffers that it keeps. The zero value is ready.
type copier struct {
	hash *blake3.Hasher
	buf  []byte
	stop <-chan struct{} // closed: copy ends with context.Canceled
}

// copy copies what is to be of some size. It gives the digest and the number of the
// bytes that it copied: not fewer than there are, or more than size. Behind small
// ones it does not look: what matters is that these are right.
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

// These hide what else a reader or writer can do, so that a copy uses its buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
