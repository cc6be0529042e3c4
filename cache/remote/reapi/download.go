package reapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// maxTries is how often a stream is started again without any progress in between.
const maxTries = 2

// maxEmpty is how many messages without data a server may send in a row: they are no progress.
const maxEmpty = 100

// download reads a blob by a stream. Where the connection breaks it asks for the rest.
type download struct {
	client *Client
	want   remote.Want
	zstd   bool
	open   func(from int64) (*answer, error)

	at      int64 // of the blob: the first byte that was not read
	tries   int   // since the last byte
	stream  *stream
	decoder *zstd.Decoder
}

func (c *Client) download(ctx context.Context, k *capabilities, w remote.Want) *download {
	d := &download{client: c, want: w, zstd: k.zstd && w.Size >= minCompressed, at: w.From}
	name := c.resource("", d.zstd, w.Digest)
	d.open = func(from int64) (a *answer, err error) {
		err = c.again(ctx, func() error {
			b := appendBytes(newFrame(len(name)+16), 1, name)
			b = seal(appendNumber(b, 2, uint64(from)))
			a, err = c.open(ctx, readBlob, func() io.Reader { return bytes.NewReader(b) })
			return err
		})
		return a, err
	}
	return d
}

// resource returns the name of a blob for ByteStream. upload is the name of an upload, "" for the blob itself.
func (c *Client) resource(upload string, compressed bool, d remote.Digest) string {
	name := c.instance
	if name != "" {
		name += "/"
	}
	if upload != "" {
		name += "uploads/" + upload + "/"
	}
	if compressed {
		name += "compressed-blobs/zstd/"
	} else {
		name += "blobs/"
	}
	return name + c.function.segment() + text(d)
}

// start opens the stream and waits for its first message: the server has the blob, or it does not.
func (d *download) start() error {
	d.end()
	a, err := d.open(d.at)
	if err != nil {
		return err
	}
	s := &stream{answer: a}
	if err := s.more(); err != nil && err != io.EOF {
		a.close()
		return err
	}
	if d.stream = s; d.zstd {
		d.decoder = d.client.pool.decoder()
		return d.decoder.Reset(s)
	}
	return nil
}

// Read reads the blob, which is complete at io.EOF as far as the server says.
func (d *download) Read(p []byte) (int, error) {
	for {
		n, err := d.read(p)
		d.at += int64(n)
		if n > 0 {
			d.tries = 0
			return n, nil
		}
		if err == nil || err == io.EOF || !d.retries(err) {
			return 0, err
		}
		if err := d.start(); err != nil {
			return 0, d.lost(err)
		}
	}
}

func (d *download) read(p []byte) (int, error) {
	if d.stream == nil {
		return 0, io.ErrUnexpectedEOF // after an error
	}
	if d.decoder == nil {
		return d.stream.Read(p)
	}
	n, err := d.decoder.Read(p)
	if d.stream.err != nil && d.stream.err != io.EOF {
		err = d.stream.err // not what the decoder makes of it
	} else if err != nil && err != io.EOF {
		err = d.client.fault(readBlob, fmt.Errorf("%s, compressed: %w", text(d.want.Digest), err))
	}
	return n, err
}

// retries reports whether the rest can be asked for after an error.
func (d *download) retries(err error) bool {
	f, failed := errors.AsType[*Failure](err)
	d.tries++
	return d.tries <= maxTries && (isCut(err) || failed && (f.Code == Unavailable || f.Code == Unauthenticated || f.Code == Internal || f.Code == Unknown))
}

// lost returns the error of a blob that the server had when its stream began: no miss, for take has its reader.
func (d *download) lost(err error) error {
	if errors.Is(err, remote.ErrMiss) {
		return fmt.Errorf("%s is gone while it was read: %v", text(d.want.Digest), err)
	}
	return err
}

// end closes the stream.
func (d *download) end() {
	if d.decoder != nil {
		_ = d.decoder.Reset(nil)
		d.client.pool.decoders.Put(d.decoder)
		d.decoder = nil
	}
	if d.stream != nil {
		d.stream.answer.close()
		d.stream = nil
	}
}

func (d *download) close() { d.end() }

// stream reads the data of the messages of an answer.
type stream struct {
	answer *answer
	rest   []byte // of the last message
	err    error  // the end
}

// more waits for a message with data.
func (s *stream) more() error {
	for empty := 0; len(s.rest) == 0 && s.err == nil; empty++ {
		if empty > maxEmpty {
			s.err = s.answer.client.fault(readBlob, fmt.Errorf("more than %d messages without data", maxEmpty))
			break
		}
		message, err := s.answer.next()
		if err == nil {
			err = fields(message, func(f field) error {
				if f.is(10, protowire.BytesType) {
					s.rest = f.data
				}
				return nil
			})
			if err != nil {
				err = s.answer.client.fault(readBlob, err)
			}
		}
		s.err = err
	}
	return s.err
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
