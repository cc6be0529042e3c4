package transport

import (
	"errors"
	"io"
	"sync"
)

// Bodies are contents of one request, which is perhaps sent again. net/http may read a body after it has returned the answer: Close
// ends that. The zero value is ready. It is safe for concurrent use.
type Bodies struct {
	mu     sync.Mutex
	all    []*body
	closed bool
}

// errClosed is the error of content that is read after the end of its request.
var errClosed = errors.New("the request has ended")

// Add returns content with the bytes of r, which it closes. It can seek if r can.
func (b *Bodies) Add(r io.ReadCloser) io.ReadSeekCloser {
	c := &body{r: r}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		c.closed = true
		r.Close()
	}
	b.all = append(b.all, c)
	return c
}

// Close closes all contents, once no read of them is under way. Later reads fail.
func (b *Bodies) Close() {
	b.mu.Lock()
	b.closed = true
	all := b.all
	b.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

// body is content whose Close waits for the end of a Read. Its lock only orders both.
type body struct {
	mu     sync.Mutex
	r      io.ReadCloser
	closed bool
}

func (c *body) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, errClosed
	}
	return c.r.Read(p)
}

func (c *body) Seek(offset int64, whence int) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.r.(io.Seeker)
	if c.closed || !ok {
		return 0, errClosed
	}
	return s.Seek(offset, whence)
}

func (c *body) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.r.Close()
}
