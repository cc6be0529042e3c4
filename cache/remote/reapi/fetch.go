package reapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

const (
	small       = 1 << 20 // bytes of the largest blob that is put into a batch
	maxPerBatch = 10_000  // blobs
)

// Fetch gets blobs and calls take for each.
func (c *Client) Fetch(ctx context.Context, blobs []remote.Want, take func(remote.Want, io.Reader) error) error {
	if len(blobs) == 0 {
		return nil
	}
	k, err := c.capabilities(ctx)
	if err != nil {
		return err
	}
	batches, alone := c.parts(k, blobs)
	refused, err := c.fetchBatches(ctx, k, batches, take)
	if err != nil {
		return err
	}
	for _, w := range append(alone, refused...) {
		if err := c.fetchAlone(ctx, k, w, take); err != nil {
			return err
		}
	}
	return nil
}

// fetchBatches gets small blobs. It returns those that the server does not send in a batch; it may have them for one
// that asks for each.
func (c *Client) fetchBatches(ctx context.Context, k *capabilities, batches [][]remote.Want, take func(remote.Want, io.Reader) error) (refused []remote.Want, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var asked sync.WaitGroup
	defer asked.Wait()
	defer cancel()
	answers := make([]chan batchAnswer, len(batches))
	for i, batch := range batches {
		for j := i; j < min(i+2, len(batches)); j++ { // the next one is under way while take works
			if answers[j] == nil {
				answers[j] = make(chan batchAnswer, 1)
				asked.Go(func() { answers[j] <- c.readBatch(ctx, k, batches[j]) })
			}
		}
		a := <-answers[i]
		if a.err != nil {
			return nil, a.err
		}
		for _, w := range batch {
			switch it := a.found[w.Digest]; {
			case it.status.code == NotFound:
				err = take(w, nil)
			case it.status.code != OK || it.data == nil:
				refused = append(refused, w)
			default:
				err = take(w, c.checked(w, bytes.NewReader(it.data)))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return refused, nil
}

// parts returns the batches of the small blobs, and the blobs that are fetched alone.
func (c *Client) parts(k *capabilities, blobs []remote.Want) (batches [][]remote.Want, alone []remote.Want) {
	var batch []remote.Want
	room := k.batch
	for _, w := range blobs {
		if w.Size > small || w.From != 0 || w.Size+batchItem > k.batch || w.Size <= 0 {
			alone = append(alone, w)
			continue
		}
		if w.Size+batchItem > room || len(batch) == maxPerBatch {
			batches, batch, room = append(batches, batch), nil, k.batch
		}
		batch = append(batch, w)
		room -= w.Size + batchItem
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches, alone
}

// batchAnswer is what a server sends for a batch.
type batchAnswer struct {
	found map[remote.Digest]item // those that were asked for; one without data was left out
	err   error
}

// item is a blob in the answer of a batch.
type item struct {
	data   []byte
	status status
	zstd   bool
}

// readBatch asks for blobs in one call. What it returns is not checked but for the sizes of what was compressed.
func (c *Client) readBatch(ctx context.Context, k *capabilities, batch []remote.Want) batchAnswer {
	b := appendBytes(newFrame(len(batch)*96), 1, c.instance)
	found := make(map[remote.Digest]item, len(batch))
	for _, w := range batch {
		if _, twice := found[w.Digest]; !twice {
			found[w.Digest] = item{}
			b = appendDigest(b, 2, w.Digest)
		}
	}
	if k.zstd {
		b = appendNumber(b, 3, zstdID)
	}
	reply, err := c.call(ctx, batchRead, appendNumber(b, 4, c.function.number()))
	if err != nil {
		return batchAnswer{err: err}
	}
	err = fields(reply, func(f field) error {
		if !f.is(1, protowire.BytesType) {
			return nil
		}
		d, it, err := decodeItem(f.data)
		if err != nil {
			return err
		}
		if before, wanted := found[d]; !wanted || before.data != nil {
			return fmt.Errorf("the server sends %s, which was not asked for, or twice", text(d))
		}
		if it.zstd && it.status.code == OK {
			if it.data, err = c.pool.expand(it.data, d.Size); err != nil {
				return fmt.Errorf("%s: %w", text(d), err)
			}
		}
		found[d] = it
		return nil
	})
	if err != nil {
		return batchAnswer{err: c.fault(batchRead, err)}
	}
	return batchAnswer{found: found}
}

func decodeItem(message []byte) (d remote.Digest, it item, err error) {
	it.data = []byte{}
	compressor := uint64(0)
	err = fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			d, err = decodeDigest(f.data)
		case f.is(2, protowire.BytesType):
			it.data = f.data
		case f.is(3, protowire.BytesType):
			it.status, err = decodeStatus(f.data)
		case f.is(4, protowire.VarintType):
			compressor = f.n
		}
		return err
	})
	if compressor > zstdID {
		return d, it, fmt.Errorf("a blob with the compressor %d, which was not asked for", compressor)
	}
	it.zstd = compressor == zstdID
	return d, it, err
}

// fetchAlone gets a blob by a stream.
func (c *Client) fetchAlone(ctx context.Context, k *capabilities, w remote.Want, take func(remote.Want, io.Reader) error) error {
	switch {
	case w.Size < 0 || w.From < 0 || w.From > w.Size:
		return fmt.Errorf("the part of %s from byte %d", text(w.Digest), w.From)
	case c.isEmpty(w.Digest), w.From > 0 && w.From == w.Size:
		return take(w, bytes.NewReader(nil)) // which no server is needed for
	}
	d := c.download(ctx, k, w)
	defer d.close()
	switch err := d.start(); {
	case errors.Is(err, remote.ErrMiss):
		return take(w, nil)
	case err != nil:
		return err
	}
	return take(w, c.checked(w, d))
}

// checked returns a reader of a blob that was asked for, which ends with an error in place of io.EOF unless it has
// read the bytes that the digest names. Of a part of a blob it checks the size only.
func (c *Client) checked(w remote.Want, source io.Reader) io.Reader {
	r := &checkedReader{source: source, want: w, left: w.Size - w.From, server: c.name}
	if w.From == 0 {
		r.hash = c.function.hash()
	}
	return r
}

type checkedReader struct {
	source io.Reader
	want   remote.Want
	left   int64
	hash   hash.Hash
	server string
	err    error // the end
}

func (r *checkedReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.left == 0 {
		r.err = r.end()
		return 0, r.err
	}
	n, err := r.source.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if r.hash != nil {
		r.hash.Write(p[:n])
	}
	if err == io.EOF && r.left > 0 {
		err = fmt.Errorf("%s: %s ends %d bytes too early", r.server, text(r.want.Digest), r.left)
	}
	if err != nil && err != io.EOF {
		r.err = err
		return n, err
	}
	return n, nil
}

// end returns io.EOF after the bytes that were wanted.
func (r *checkedReader) end() error {
	var more [1]byte
	switch n, err := io.ReadFull(r.source, more[:]); {
	case n > 0:
		return fmt.Errorf("%s: %s has more than %d bytes", r.server, text(r.want.Digest), r.want.Size)
	case err != io.EOF:
		return err
	case r.hash != nil && [32]byte(r.hash.Sum(nil)) != r.want.Hash:
		return fmt.Errorf("%s: wrong bytes for %s", r.server, text(r.want.Digest))
	}
	return io.EOF
}
