// Package wire is what bento and a plugin say to each other over a pair of byte
// streams: Content-Length frames that hold JSON-RPC 2.0 messages, their limits,
// and the vocabulary of the bento adapter protocol v1. It starts no process.
//
// The other side is never trusted. A length is checked before a byte is read for
// it, buffers grow with what arrives, and a body is checked for UTF-8, JSON and
// depth before anything decodes it. What cannot be told apart from garbage ends
// the stream (ErrMalformed); what is JSON but no message of the protocol costs
// only itself.
package wire

import (
	"cmp"
	"errors"
	"time"
)

// ErrMalformed is wrapped by the errors of a stream that does not hold frames of
// JSON within the limits. There is no way to find the next frame after one.
var ErrMalformed = errors.New("malformed frame")

// ErrTooLarge is wrapped by the error of sending a message over Limits.Body.
// Nothing has been written.
var ErrTooLarge = errors.New("message too large")

// ErrSendTimeout is the error of a write that the other side did not read within
// Limits.Send. The stream is closed, since part of a frame may be written.
var ErrSendTimeout = errors.New("the other side does not read")

// Limits bound what a peer can make this side hold or wait for. Zero fields mean
// the defaults, which are those of the contract.
type Limits struct {
	Header int           // bytes of a header block; 8 KiB
	Body   int           // bytes of a body, both ways; 16 MiB
	Depth  int           // nesting of JSON values, the message itself being 1; 64
	Send   time.Duration // for writing one frame; 30 s
	Idle   int           // messages in a row that a plugin sends while nothing is asked; 100,000
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Header: cmp.Or(l.Header, 8<<10),
		Body:   cmp.Or(l.Body, 16<<20),
		Depth:  cmp.Or(l.Depth, 64),
		Send:   cmp.Or(l.Send, 30*time.Second),
		Idle:   cmp.Or(l.Idle, 100_000),
	}
}
