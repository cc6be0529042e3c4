package reapi

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// maxRefused is how many blobs a server may refuse until it is asked to take no more.
const maxRefused = 16

// opener opens a blob to be sent.
type opener func(remote.Digest) (io.ReadSeekCloser, error)

// Send stores blobs. What the server refuses of one blob does not keep the others from being sent; its error comes
// last.
func (c *Client) Send(ctx context.Context, blobs []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	if len(blobs) == 0 {
		return nil
	}
	k, err := c.capabilities(ctx)
	if err != nil {
		return err
	}
	var refusals []error
	each := func(d remote.Digest, err error) error {
		switch f, refused := errors.AsType[*Failure](err); {
		case err == nil:
			sent(d)
		case (refused && f.ofOne() || errors.Is(err, remote.ErrFull)) && len(refusals) < maxRefused:
			refusals = append(refusals, err)
		default:
			return err
		}
		return nil
	}
	var alone []remote.Digest
	batch := batch{client: c, caps: k, open: open, room: k.batch}
	for _, d := range blobs {
		switch {
		case c.isEmpty(d):
			sent(d) // every server has it
		case k.blob > 0 && d.Size > k.blob:
			refusals = append(refusals, fmt.Errorf("%s: %s is larger than %d bytes: %w", c.name, text(d), k.blob, remote.ErrFull))
		case d.Size > small || d.Size+batchItem > k.batch:
			alone = append(alone, d)
		default:
			if err := batch.add(ctx, d, each); err != nil {
				return err
			}
		}
	}
	if err := batch.flush(ctx, each); err != nil {
		return err
	}
	for _, d := range alone {
		if err := each(d, c.upload(ctx, k, d, open)); err != nil {
			return err
		}
	}
	return errors.Join(refusals[:min(len(refusals), 3)]...)
}

// ofOne reports whether a failure is one of a single blob, after which others can be sent.
func (f *Failure) ofOne() bool {
	return f.Code == InvalidArgument || f.Code == ResourceExhausted || f.Code == OutOfRange
}

// batch is blobs that are sent in one call.
type batch struct {
	client *Client
	caps   *capabilities
	open   opener
	frame  []byte
	blobs  map[remote.Digest]bool
	room   int64
}

// add adds a blob, and sends those before if there is no room for it.
func (b *batch) add(ctx context.Context, d remote.Digest, each func(remote.Digest, error) error) error {
	if d.Size+batchItem > b.room || len(b.blobs) == maxPerBatch {
		if err := b.flush(ctx, each); err != nil {
			return err
		}
	}
	if b.blobs[d] {
		return nil
	}
	data, err := readAll(d, b.open)
	if err != nil {
		return err
	}
	if b.frame == nil {
		b.frame = appendBytes(newFrame(int(d.Size)+batchItem), 1, b.client.instance) // many batches have little, and are under way at once
		b.blobs = make(map[remote.Digest]bool)
	}
	compressor := uint64(0)
	if b.caps.zstdBatch {
		if short, ok := b.client.pool.compress(data); ok {
			data, compressor = short, zstdID
		}
	}
	m := appendMessage(make([]byte, 0, 100), 1, encodeDigest(d))
	tail := appendNumber(nil, 3, compressor)
	size := len(m) + protowire.SizeTag(2) + protowire.SizeBytes(len(data)) + len(tail)
	b.frame = protowire.AppendTag(b.frame, 2, protowire.BytesType)
	b.frame = protowire.AppendVarint(b.frame, uint64(size))
	b.frame = append(appendMessage(append(b.frame, m...), 2, data), tail...)
	b.blobs[d] = true
	b.room -= int64(len(data)) + batchItem
	return nil
}

// readAll reads a blob of a known size.
func readAll(d remote.Digest, open opener) ([]byte, error) {
	r, err := open(d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(&exact{source: r, left: d.Size, digest: d})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// flush sends the blobs and calls each for all of them.
func (b *batch) flush(ctx context.Context, each func(remote.Digest, error) error) error {
	if len(b.blobs) == 0 {
		return nil
	}
	c := b.client
	reply, err := c.call(ctx, batchUpdate, appendNumber(b.frame, 5, c.function.number()))
	one := func(d remote.Digest) error { return c.upload(ctx, b.caps, d, b.open) }
	if f, refused := errors.AsType[*Failure](err); !refused || !f.ofOne() && f.Code != Unimplemented {
		if err != nil {
			return err
		}
		answered, err := b.answers(reply)
		if err != nil {
			return c.fault(batchUpdate, err)
		}
		one = func(d remote.Digest) error {
			s, ok := answered[d]
			switch {
			case !ok:
				return c.fault(batchUpdate, fmt.Errorf("no answer for %s", text(d)))
			case s.code != OK:
				return c.failure(batchUpdate, status{s.code, text(d) + ": " + s.text})
			}
			return nil
		}
	} // else the server may take them one by one: its messages are smaller than others'
	for d := range b.blobs {
		if err := each(d, one(d)); err != nil {
			return err
		}
	}
	b.frame, b.blobs, b.room = nil, nil, b.caps.batch
	return nil
}

// answers decodes what a server says of the blobs.
func (b *batch) answers(reply []byte) (map[remote.Digest]status, error) {
	answered := make(map[remote.Digest]status, len(b.blobs))
	err := fields(reply, func(f field) error {
		if !f.is(1, protowire.BytesType) {
			return nil
		}
		d, s, err := decodeStored(f.data)
		if _, twice := answered[d]; err == nil && (!b.blobs[d] || twice) {
			err = fmt.Errorf("the server answers for %s, which was not sent, or twice", text(d))
		}
		answered[d] = s
		return err
	})
	return answered, err
}

func decodeStored(message []byte) (d remote.Digest, s status, err error) {
	err = fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			d, err = decodeDigest(f.data)
		case f.is(2, protowire.BytesType):
			s, err = decodeStatus(f.data)
		}
		return err
	})
	return d, s, err
}

// exact reads exactly as many bytes as a digest says.
type exact struct {
	source io.Reader
	left   int64
	digest remote.Digest
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.source.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = fmt.Errorf("%s has %d bytes less", text(e.digest), e.left)
	} else if err == io.EOF {
		err = nil
	}
	return n, err
}
