package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creachadair/jrpc2/channel"
)

// Conn carries bodies in Content-Length frames, or in lines (Limits.Lines), over a pair of streams. It is a
// channel.Channel of jrpc2 and does not parse bodies. Recv is for one goroutine, the other
// methods are safe for concurrent use.
type Conn struct {
	limits Limits
	br     *bufio.Reader
	come   part // the received part of an incomplete message
	in     io.Closer
	out    io.WriteCloser
	once   sync.Once

	writing sync.Mutex // one frame at a time
	buf     []byte
}

var _ channel.Channel = (*Conn)(nil)

// NewConn returns a Conn that reads from in, writes to out, and closes both.
func NewConn(in io.ReadCloser, out io.WriteCloser, l Limits) *Conn {
	l = l.withDefaults()
	return &Conn{limits: l, br: bufio.NewReaderSize(in, max(l.Header+1, 16<<10)), in: in, out: out}
}

// Close closes both streams, which ends a blocked Recv or Send.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.out.Close()
		c.in.Close()
	})
	return nil
}

// closeWrite closes the direction to the other side, also of a socket.
func (c *Conn) closeWrite() {
	if half, ok := c.out.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		return
	}
	c.out.Close()
}

// lingering is how long a side that is to read a last reply may take.
const lingering = time.Second

// linger drops what the other side still sends, until it closes its stream, or for a while: one that writes on
// can read the last reply only afterwards.
func (c *Conn) linger() {
	timer := time.AfterFunc(lingering, func() { c.Close() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, c.br)
}

// Recv returns the next body. The error is io.EOF where the stream ends between two frames,
// wraps io.ErrUnexpectedEOF where it ends inside one and ErrMalformed for bytes that are
// not a frame, and is channel.ErrClosed after Close.
func (c *Conn) Recv() ([]byte, error) {
	if c.limits.Lines {
		body, err := readBodyLine(c.br, c.limits.Body)
		return body, closedError(err)
	}
	body, err := readFrame(c.br, c.limits, &c.come)
	return body, closedError(err)
}

// NoHeader is in the error of bytes that are no frame.
const NoHeader = `expected "Content-Length: N"`

// Miscount is in the error of a frame whose length is not that of its JSON.
const Miscount = "it must be the number of bytes of the encoded body"

// Miscounted returns err, the error of parsing body, which Recv returned last. If the JSON does not end
// where its Content-Length does, the error says so, since that is the most frequent cause.
func (c *Conn) Miscounted(body []byte, err error) error {
	if !errors.Is(err, ErrMalformed) || c.limits.Lines {
		return err
	}
	rest, _ := c.br.Peek(c.br.Buffered())
	var value json.RawMessage
	decoder := json.NewDecoder(io.MultiReader(bytes.NewReader(body), bytes.NewReader(rest)))
	if decoder.Decode(&value) != nil || value[0] != '{' {
		return err
	}
	end := int(decoder.InputOffset())
	if end == len(body) || end < len(body) && !bytes.HasPrefix([]byte("Content-Length:"), body[end:]) { // more JSON, or text
		return err
	}
	return fmt.Errorf("%w: Content-Length is %d, and the JSON has %d bytes: "+Miscount, ErrMalformed, len(body), end)
}

// Unfinished describes the received part of an incomplete message, or returns "".
func (c *Conn) Unfinished() string { return c.come.String() }

// BareLF reports whether a header line ended with LF alone. Call it after the last Recv.
func (c *Conn) BareLF() bool { return c.come.bare }

// Send writes one body as a frame. The error is ErrSendTimeout after Limits.Send, and wraps
// ErrTooLarge, with nothing written, for a body over Limits.Sent.
func (c *Conn) Send(body []byte) error {
	if len(body) > c.limits.Sent {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(body), c.limits.Sent)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.limits.Lines {
		c.buf = append(append(c.buf[:0], body...), '\n')
	} else {
		c.buf = appendFrame(c.buf[:0], body)
	}
	err := c.write(c.buf)
	if cap(c.buf) > 1<<20 {
		c.buf = nil
	}
	return err
}

// send writes a message. It returns when all is written, or the connection closed.
func (c *Conn) send(m message) error {
	frame := m.frame()
	if c.limits.Lines {
		frame = m.line()
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.write(frame)
}

func (c *Conn) write(frame []byte) error {
	var late atomic.Bool
	timer := time.AfterFunc(c.limits.Send, func() {
		late.Store(true)
		c.Close()
	})
	_, err := c.out.Write(frame)
	timer.Stop()
	if err != nil && late.Load() {
		return ErrSendTimeout
	}
	return closedError(err)
}

func closedError(err error) error {
	if errors.Is(err, fs.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return channel.ErrClosed
	}
	return err
}
