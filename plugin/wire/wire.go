// Package wire is the connection between bento and a plugin over a pair of byte streams:
// Content-Length frames that hold JSON-RPC 2.0 messages, their limits, and the vocabulary
// of the bento adapter protocol v1. It starts no process.
//
// It never trusts the peer. It checks a length before it reads a byte for it, grows buffers
// with the received bytes, and checks a body for UTF-8, JSON and depth before it decodes
// it. Bytes that are not a frame end the stream (ErrMalformed); JSON that is not a message
// of the protocol is ignored or refused alone.
package wire

import (
	"cmp"
	"errors"
	"time"
)

// ErrMalformed is wrapped by the errors of a stream that does not hold frames of JSON
// within the limits. The next frame cannot be found after it.
var ErrMalformed = errors.New("malformed frame")

// ErrTooLarge is wrapped by the error of sending a message over the limit, of which nothing
// was written, and by that of a frame that announces a body over Limits.Body.
var ErrTooLarge = errors.New("message too large")

// ErrSendTimeout is the error of a write that the other side did not read within
// Limits.Send. The stream is closed, since part of a frame may be written.
var ErrSendTimeout = errors.New("the other side does not read")

// Limits bound what a peer can make this side hold or wait for. Zero fields mean the
// defaults, which are those of the contract.
type Limits struct {
	Header int           // bytes of a header block; 8 KiB
	Body   int           // bytes of a body, both ways; 16 MiB
	Sent   int           // bytes of a body that is sent, if other than Body
	Depth  int           // nesting of JSON values, the message itself being 1; 64
	Send   time.Duration // for writing one frame; 30 s
	Idle   int           // messages in a row that a plugin sends without a request; 100,000
	// Strict refuses header lines that do not end in CRLF and headers other than
	// Content-Length, as the contracts of extensions do; of several the last one counts.
	Strict bool
	// Lines makes each body a line of its own, without a header. A line of spaces is ignored.
	Lines bool
}

func (l Limits) withDefaults() Limits {
	l.Header = cmp.Or(l.Header, 8<<10)
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Sent = cmp.Or(l.Sent, l.Body)
	l.Depth = cmp.Or(l.Depth, 64)
	l.Send = cmp.Or(l.Send, 30*time.Second)
	l.Idle = cmp.Or(l.Idle, 100_000)
	return l
}
