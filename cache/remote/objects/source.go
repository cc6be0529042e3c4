package objects

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// ErrContent is the error of content that is not what its digest says.
var ErrContent = errors.New("its content is not that of its digest")

// Source opens the content of an object, from its beginning. The caller closes it.
type Source func() (io.ReadSeekCloser, error)

// Reader opens the content for one who sends it. It ends with an error in place of its last bytes if they are not those of
// o, so a server gets no whole object under a wrong name.
func (s Source) Reader(o Object) (io.ReadCloser, error) {
	r, err := s()
	if err != nil {
		return nil, err
	}
	return &checked{r: r, left: o.Size, hash: sha256.New(), want: o}, nil
}

type checked struct {
	r    io.ReadSeekCloser
	left int64
	hash hash.Hash
	want Object
}

func (c *checked) Close() error { return c.r.Close() }

func (c *checked) Read(p []byte) (int, error) {
	if c.left == 0 || len(p) == 0 {
		return 0, io.EOF
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.hash.Write(p[:n])
	c.left -= int64(n)
	switch {
	case c.left > 0 && err == io.EOF:
		return 0, c.wrong()
	case c.left > 0:
		return n, err
	}
	if more, _ := io.ReadFull(c.r, make([]byte, 1)); more > 0 || [sha256.Size]byte(c.hash.Sum(nil)) != c.want.Hash {
		return 0, c.wrong()
	}
	return n, io.EOF
}

func (c *checked) wrong() error { return fmt.Errorf("%s: %w", c.want.Name, ErrContent) }
