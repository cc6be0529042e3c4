// Package objects is a Backend over a server of named objects, which knows requests for one object alone: a plain web
// server, a bucket.
package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Server has named objects. Its methods may be called concurrently.
type Server interface {
	// Get returns the content of an object from a position on, which the caller closes, or remote.ErrMiss. If o.Size
	// is known, it is the size of the object, or Get returns an error.
	Get(ctx context.Context, o Object, from int64) (io.ReadCloser, error)
	// Has reports whether the server has an object, of the size o.Size unless it does not know.
	Has(ctx context.Context, o Object) (bool, error)
	// Put stores an object. A large one continues an earlier attempt if the server can.
	Put(ctx context.Context, o Object, content Source) error
	// Close ends the connections.
	Close() error
}

// Object is the name and the content of an object.
type Object struct {
	Name   string // "cas/HASH" or "ac/HASH"
	Size   int64  // in bytes; -1 if unknown
	Hash   [sha256.Size]byte
	Result bool // an ActionResult, which may be written again with other content
}

// Sizes in bytes, and numbers of blobs.
const (
	small      = 64 << 10 // such a blob is read into memory
	large      = 1 << 20  // few larger ones are transferred at once
	fewAtOnce  = 4
	resumeMost = 3 // times that a download continues where it was cut off
)

// Backend returns a Backend whose server is s, which it closes.
func Backend(s Server) remote.Backend { return &backend{s} }

type backend struct{ Server }

func blobOf(d remote.Digest) Object {
	return Object{Name: "cas/" + hex.EncodeToString(d.Hash[:]), Size: d.Size, Hash: d.Hash}
}

// Result implements remote.Backend.
func (b *backend) Result(ctx context.Context, action remote.Digest) ([]byte, error) {
	body, err := b.Get(ctx, Object{Name: "ac/" + hex.EncodeToString(action.Hash[:]), Size: -1, Result: true}, 0)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, remote.MaxResult+1))
	if err == nil && len(data) > remote.MaxResult {
		err = fmt.Errorf("the result has more than %d bytes", remote.MaxResult)
	}
	return data, err
}

// PutResult implements remote.Backend.
func (b *backend) PutResult(ctx context.Context, action remote.Digest, result []byte) error {
	sum := remote.Sum(result)
	o := Object{Name: "ac/" + hex.EncodeToString(action.Hash[:]), Size: sum.Size, Hash: sum.Hash, Result: true}
	return b.Put(ctx, o, func() (io.ReadSeekCloser, error) { return inMemory{bytes.NewReader(result)}, nil })
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// each calls do for the numbers below n, transport.Parallel at a time, until one returns an error, and returns that.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, transport.Parallel) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// gather is each, with values that do passes on. It calls take for each of them, one at a time, also after an error.
func gather[T any](ctx context.Context, n int, do func(ctx context.Context, i int, pass func(T) error) error, take func(T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	values := make(chan T)
	var group sync.WaitGroup
	var end, failed error
	group.Go(func() {
		defer close(values)
		end = each(ctx, n, func(ctx context.Context, i int) error {
			return do(ctx, i, func(v T) error {
				select {
				case values <- v:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		})
	})
	for v := range values {
		if err := take(v); err != nil && failed == nil {
			failed = err
			cancel(err)
		}
	}
	group.Wait()
	return cmp.Or(failed, end)
}

// turns lets few transfers of large blobs happen at once.
type turns chan struct{}

// take returns when it is the turn of a transfer of size bytes, which calls end after it.
func (t turns) take(ctx context.Context, size int64) (end func(), err error) {
	if size <= large {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Missing implements remote.Backend. Every server has the empty blob.
func (b *backend) Missing(ctx context.Context, digests []remote.Digest) ([]remote.Digest, error) {
	has := make([]bool, len(digests))
	err := each(ctx, len(digests), func(ctx context.Context, i int) (err error) {
		has[i] = digests[i] == remote.Sum(nil)
		if !has[i] {
			has[i], err = b.Has(ctx, blobOf(digests[i]))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var missing []remote.Digest
	for i, d := range digests {
		if !has[i] {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// Send implements remote.Backend. A blob that the server does not take, or that cannot be opened or is another, does not
// keep others from being sent.
func (b *backend) Send(ctx context.Context, blobs []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	type outcome struct {
		remote.Digest
		left error
	}
	few := make(turns, fewAtOnce)
	var left []error
	err := gather(ctx, len(blobs), func(ctx context.Context, i int, pass func(outcome) error) error {
		end, err := few.take(ctx, blobs[i].Size)
		if err != nil {
			return err
		}
		defer end()
		left, err := b.put(ctx, blobs[i], open)
		if err != nil {
			return err
		}
		return pass(outcome{blobs[i], left})
	}, func(o outcome) error {
		if o.left != nil {
			left = append(left, o.left)
		} else {
			sent(o.Digest)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(left...)
}

// put stores a blob. left is an error of this blob alone.
func (b *backend) put(ctx context.Context, d remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error)) (left, err error) {
	if d == remote.Sum(nil) {
		return nil, nil
	}
	var unopened atomic.Bool
	var bodies transport.Bodies // no one reads the blob after this
	defer bodies.Close()
	err = b.Put(ctx, blobOf(d), func() (io.ReadSeekCloser, error) {
		r, err := open(d)
		if err != nil {
			unopened.Store(true)
			return nil, err
		}
		return bodies.Add(r), nil
	})
	if unopened.Load() || errors.Is(err, ErrContent) || errors.Is(err, remote.ErrFull) {
		return err, nil
	}
	return nil, err
}
