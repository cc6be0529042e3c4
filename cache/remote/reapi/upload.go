package reapi

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

const (
	chunk     = 128 << 10 // bytes of a blob in one message
	resumable = 4 << 20   // bytes of the smallest blob of which the server is asked how much it has
)

// upload sends one blob. It continues where an earlier upload by the same sender was cut off, if the server knows.
func (c *Client) upload(ctx context.Context, k *capabilities, d remote.Digest, open opener) error {
	u := &upload{client: c, digest: d, open: open}
	if k.zstd {
		compressible, err := u.sample()
		if err != nil {
			return err
		}
		u.zstd = compressible
	}
	u.rename(d.Size >= resumable)
	if u.stable {
		if done, err := u.ask(ctx); done || err != nil {
			return err
		}
	}
	for tries := 0; ; tries++ {
		from := u.at
		err := c.authorized(func() error { return u.send(ctx) })
		if err == nil || ctx.Err() != nil || !u.another(err, from, &tries) {
			return err
		}
		done, failed := u.ask(ctx)
		if failed != nil {
			return err
		}
		if done {
			return nil
		}
		if u.at > from {
			tries = 0
		}
	}
}

// upload is the sending of a blob.
type upload struct {
	client *Client
	digest remote.Digest
	open   opener
	zstd   bool
	name   string // of the resource
	at     int64  // what the server has, in bytes of what is sent
	stable bool   // the name is the same in the next process
}

// rename names the upload: by its sender, or as nothing was named before.
func (u *upload) rename(stable bool) {
	u.stable = stable
	sender := u.client.sender
	if !stable {
		sender = rand.Text()
	}
	u.name = u.client.resource(uploadName(sender, u.digest, u.zstd), u.zstd, u.digest)
}

// uploadName returns the name of an upload, in the form of a UUID, which is the same for every process of a sender.
func uploadName(sender string, d remote.Digest, zstd bool) string {
	h := sha256.Sum256(fmt.Appendf(nil, "bento upload 1\n%s\n%s\n%v", sender, text(d), zstd))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8 of RFC 9562: of one's own making
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// another reports whether the rest can be sent after an error. Since what the server has of an upload may not be what
// this process would have sent, a refused rest is sent from the beginning, under a new name.
func (u *upload) another(err error, from int64, tries *int) bool {
	if f, failed := errors.AsType[*Failure](err); failed {
		denied := f.Code == Unauthenticated || f.Code == PermissionDenied || f.Code == ResourceExhausted
		again := (u.stable || *tries > 0) && *tries < maxTries // a server may still be taking what was cut off
		if again && !denied && (from > 0 || f.Code == InvalidArgument || f.Code == OutOfRange) {
			if u.stable {
				*tries = 0
			}
			u.rename(false)
			u.at = 0
			return true
		}
		return f.Code == Unavailable && *tries < maxTries
	}
	return isCut(err) && *tries < maxTries
}

// sample reports whether the blob can be compressed.
func (u *upload) sample() (bool, error) {
	r, err := u.open(u.digest)
	if err != nil {
		return false, err
	}
	defer r.Close()
	start, err := io.ReadAll(io.LimitReader(r, sampled))
	return err == nil && u.client.pool.compressible(start), err
}

// ask sets how much the server has of the upload, and reports whether that is all. A server that cannot be asked has
// nothing.
func (u *upload) ask(ctx context.Context) (done bool, err error) {
	c := u.client
	u.at = 0
	reply, err := c.call(ctx, queryWrite, appendBytes(newFrame(len(u.name)+8), 1, u.name))
	if f, failed := errors.AsType[*Failure](err); failed && (f.Code == NotFound || f.Code == Unimplemented || f.Code == Unknown || f.Code == InvalidArgument) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = fields(reply, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			u.at = int64(f.n)
		case f.is(2, protowire.VarintType):
			done = f.n != 0
		}
		return nil
	})
	if err == nil && u.at < 0 {
		err = fmt.Errorf("the server has %d bytes of an upload", u.at)
	}
	if err != nil {
		u.at = 0
		return false, c.fault(queryWrite, err)
	}
	return done, nil
}

// send sends the blob from u.at on.
func (u *upload) send(ctx context.Context) error {
	c := u.client
	body, err := u.body()
	if err != nil {
		return err
	}
	defer body.wait()
	a, err := c.open(ctx, writeBlob, func() io.Reader { return body })
	if err != nil {
		return body.or(err)
	}
	defer a.close()
	reply, err := a.only()
	if err != nil {
		return body.or(err)
	}
	var committed int64
	err = fields(reply, func(f field) error {
		if f.is(1, protowire.VarintType) {
			committed = int64(f.n)
		}
		return nil
	})
	switch sent, all := body.sent(); {
	case err != nil:
		return c.fault(writeBlob, err)
	case committed != -1 && committed != u.digest.Size && !(all && committed == sent): // the server may have had it before
		return c.fault(writeBlob, fmt.Errorf("the server has taken %d bytes of %s", committed, text(u.digest)))
	}
	return nil
}

// body returns the frames of the blob from u.at on.
func (u *upload) body() (*body, error) {
	file, err := u.open(u.digest)
	if err != nil {
		return nil, err
	}
	b := &body{file: file, name: u.name, at: u.at, closed: make(chan struct{})}
	var source io.Reader = &exact{source: file, left: u.digest.Size, digest: u.digest}
	switch {
	case u.zstd:
		b.zstd = u.client.pool.compressing(source)
		b.pool = &u.client.pool
		b.source = bufio.NewReaderSize(b.zstd, chunk)
		_, err = io.CopyN(io.Discard, b.source, u.at) // the same bytes as before
	case u.at > u.digest.Size:
		err = fmt.Errorf("the server has %d bytes of %s", u.at, text(u.digest))
	default:
		_, err = file.Seek(u.at, io.SeekStart)
		b.source = bufio.NewReaderSize(&exact{source: file, left: u.digest.Size - u.at, digest: u.digest}, chunk)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// body is the frames of an upload. The transport reads it, and may close it meanwhile.
type body struct {
	mu     sync.Mutex // is held while the file is read, so that it is not closed meanwhile
	file   io.ReadSeekCloser
	source *bufio.Reader
	zstd   *compressing
	pool   *pool
	name   string // of the resource, until it was sent
	buffer []byte // the frame
	rest   []byte // what is left of it
	data   [chunk]byte
	at     int64
	last   bool  // the frame is the last one
	err    error // of reading the blob
	closed chan struct{}
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rest) == 0 {
		switch {
		case b.last:
			return 0, io.EOF
		case b.file == nil:
			return 0, fs.ErrClosed
		}
		if b.err = b.next(); b.err != nil {
			return 0, b.err
		}
	}
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 && b.last {
		return n, io.EOF
	}
	return n, nil
}

// next makes the next frame.
func (b *body) next() error {
	n, err := io.ReadFull(b.source, b.data[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if _, err = b.source.Peek(1); err != nil && err != io.EOF {
		return err
	}
	b.last = err == io.EOF
	m := append(b.buffer[:0], make([]byte, framePrefix)...)
	m = appendNumber(appendBytes(m, 1, b.name), 2, uint64(b.at))
	if b.last {
		m = appendNumber(m, 3, 1)
	}
	b.buffer = seal(appendBytes(m, 10, b.data[:n]))
	b.rest, b.name = b.buffer, ""
	b.at += int64(n)
	return nil
}

// sent returns how many bytes were sent with those before, and whether that is all.
func (b *body) sent() (int64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at, b.last
}

// or returns the error of reading the blob, if that is what has ended a call with err.
func (b *body) or(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	return err
}

// Close ends the use of the blob.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return nil
	}
	if b.zstd != nil {
		b.pool.encoders.Put(b.zstd.encoder)
	}
	_ = b.file.Close() // it was only read
	b.file = nil
	close(b.closed)
	return nil
}

// wait waits until the transport has closed the body.
func (b *body) wait() { <-b.closed }
