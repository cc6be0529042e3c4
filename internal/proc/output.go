package proc

import (
	"bytes"
	"context"
	"fmt"
)

// tailSize is the number of bytes of stderr that Output keeps.
const tailSize = 16 << 10

// TooMuchError is the error of a child that printed more than the limit of Output.
type TooMuchError struct {
	Command string
	Limit   int // bytes
}

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("%s printed more than %d bytes", e.Command, e.Limit)
}

// Output runs a child and returns its output: all of stdout, if that is at most limit bytes, else
// the first limit bytes and a *TooMuchError; and the last 16 KiB of stderr. It ignores Stdout and
// Stderr of s.
func Output(ctx context.Context, s Spec, limit int) (stdout, stderrTail []byte, res Result, err error) {
	out, tail := &head{limit: limit}, NewTail(tailSize)
	s.Stdout, s.Stderr = out, tail
	res, err = Run(ctx, s)
	if err == nil && out.more {
		err = &TooMuchError{Command: s.Argv[0], Limit: limit}
	}
	return out.buf.Bytes(), tail.Bytes(), res, err
}

// head keeps the first limit bytes.
type head struct {
	buf   bytes.Buffer
	limit int
	more  bool // more was written
}

func (h *head) Write(p []byte) (int, error) {
	fits := min(len(p), h.limit-h.buf.Len())
	h.buf.Write(p[:fits])
	h.more = h.more || fits < len(p)
	return len(p), nil
}

// Tail is a writer that keeps the last bytes written to it. It is not safe for
// concurrent use.
type Tail struct {
	buf  []byte
	size int
}

// NewTail returns a Tail of size bytes.
func NewTail(size int) *Tail { return &Tail{size: size} }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	if n >= t.size {
		t.buf = append(t.buf[:0], p[n-t.size:]...)
		return n, nil
	}
	if len(t.buf)+n > 2*t.size { // moved once per size bytes, not on every write
		t.buf = t.buf[:copy(t.buf, t.Bytes())]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Bytes returns the kept bytes. They are valid until the next Write.
func (t *Tail) Bytes() []byte { return t.buf[max(0, len(t.buf)-t.size):] }
