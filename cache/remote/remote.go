// Package remote keeps results of tasks beyond this machine. What comes from there is hostile until
// its signature and its digests were checked.
package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
)

// Digest identifies content on the wire, as in the Remote Execution API: its SHA256 hash and its size in bytes.
type Digest struct {
	Hash [sha256.Size]byte
	Size int64
}

// Sum returns the digest of data.
func Sum(data []byte) Digest { return Digest{Hash: sha256.Sum256(data), Size: int64(len(data))} }

// Errors of a Backend, to be tested with errors.Is. Every other error is a fault of the server or of the way to it.
var (
	ErrMiss   = errors.New("not in the remote cache")                     // an answer: the server is well
	ErrDenied = errors.New("the remote cache refuses the credentials")    // 401, 403, UNAUTHENTICATED, PERMISSION_DENIED
	ErrFull   = errors.New("the remote cache takes no content like this") // too large, or no room; others may be taken
)

// Backend is a server with an action cache and a content-addressed storage: those of the Remote Execution API,
// Bazel's plain HTTP, a bucket or a directory. Its methods may be called concurrently and return soon after ctx
// ended. They connect when first needed and keep connections; they set no total time, but report progress by
// reading and writing as bytes come, so the caller can end what is idle. Nothing that a server says is trusted
// for an allocation.
type Backend interface {
	// Result returns the encoded ActionResult under an action's digest, or ErrMiss. It is at most MaxResult bytes.
	Result(ctx context.Context, action Digest) ([]byte, error)
	// PutResult stores an encoded ActionResult. The blobs that it names are there already.
	PutResult(ctx context.Context, action Digest, result []byte) error
	// Missing returns those of the digests that the server does not have. A server that cannot be asked cheaply
	// may return all of them.
	Missing(ctx context.Context, digests []Digest) ([]Digest, error)
	// Fetch gets blobs, small ones together. It calls take for each, in any order, one at a time, with a reader of exactly Size
	// bytes whose hash was checked by its end: a wrong one is an error of the last Read, never io.EOF. A blob that
	// the server lacks is passed with a nil reader. An error of take ends Fetch with it. With Want.From, the reader
	// begins there, and the hash is the taker's to check.
	Fetch(ctx context.Context, blobs []Want, take func(Want, io.Reader) error) error
	// Send stores blobs, small ones together, large ones from where an earlier attempt was cut off if the server
	// knows. open may be called again for a blob after an error of the way. sent is called for each that is there now.
	Send(ctx context.Context, blobs []Digest, open func(Digest) (io.ReadSeekCloser, error), sent func(Digest)) error
	// Close ends the connections.
	Close() error
}

// Want is a blob, from a position on.
type Want struct {
	Digest
	From int64 // in bytes; 0: all of it
}

// MaxResult is the size of the largest ActionResult that is accepted, in bytes. A gRPC message has at most 4 MiB.
const MaxResult = 4<<20 - 64<<10
