package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/bentobuild/bento/cache/remote"
)

// arrival is the answer for one blob.
type arrival struct {
	want remote.Want
	r    io.Reader     // nil: the server lacks the blob
	done chan struct{} // closed when r was read; nil if r is in memory
}

// Fetch implements remote.Backend. Requests for many blobs are under way while one is taken: small ones are read into
// memory, large ones wait in their connections.
func (b *backend) Fetch(ctx context.Context, blobs []remote.Want, take func(remote.Want, io.Reader) error) error {
	few, ended := make(turns, fewAtOnce), false
	return gather(ctx, len(blobs), func(ctx context.Context, i int, pass func(arrival) error) error {
		return b.get(ctx, blobs[i], few, pass)
	}, func(a arrival) error {
		if a.done != nil {
			defer close(a.done)
		}
		if ended {
			return nil
		}
		err := take(a.want, a.r)
		ended = err != nil
		return err
	})
}

// get passes on one blob.
func (b *backend) get(ctx context.Context, w remote.Want, few turns, pass func(arrival) error) error {
	if w.From < 0 || w.From > w.Size {
		return fmt.Errorf("a blob of %d bytes was wanted from byte %d on", w.Size, w.From)
	}
	o := blobOf(w.Digest)
	d := &download{object: o, at: w.From, get: func(from int64) (io.ReadCloser, error) { return b.Get(ctx, o, from) }}
	if w.From == 0 {
		d.hash = sha256.New()
	}
	defer d.close()
	a := arrival{want: w}
	if w.Size-w.From <= small {
		data, err := d.whole()
		if err != nil && !errors.Is(err, remote.ErrMiss) {
			return err
		}
		if err == nil {
			a.r = bytes.NewReader(data)
		}
		return pass(a)
	}
	end, err := few.take(ctx, w.Size)
	if err != nil {
		return err
	}
	defer end()
	switch err := d.open(); {
	case errors.Is(err, remote.ErrMiss):
		return pass(a)
	case err != nil:
		return err
	}
	a.r, a.done = d, make(chan struct{})
	if err := pass(a); err != nil {
		return err
	}
	<-a.done // take reads d
	return nil
}

// download reads a blob, and continues after it was cut off.
type download struct {
	get    func(from int64) (io.ReadCloser, error)
	object Object
	at     int64
	hash   hash.Hash // of all before at; nil if it does not begin at 0
	body   io.ReadCloser
	cuts   int
	failed error // the answer of all later reads
}

// whole reads a small blob.
func (d *download) whole() ([]byte, error) {
	data := make([]byte, d.object.Size-d.at)
	if d.object.Size == 0 {
		return data, d.check()
	}
	_, err := io.ReadFull(d, data)
	return data, err
}

func (d *download) open() (err error) {
	d.body, err = d.get(d.at)
	return err
}

func (d *download) close() {
	if d.body != nil {
		d.body.Close()
		d.body = nil
	}
}

// Read implements io.Reader. The last bytes come only if the hash is right, with io.EOF: a caller that reads no further
// than to the size must not miss the error.
func (d *download) Read(p []byte) (n int, err error) {
	if d.failed != nil {
		return 0, d.failed
	}
	if n, err = d.read(p); err != nil && err != io.EOF {
		d.failed = err
	}
	return n, err
}

func (d *download) read(p []byte) (n int, err error) {
	for n == 0 && d.at < d.object.Size && len(p) > 0 {
		if d.body == nil {
			if err := d.open(); err != nil {
				return 0, err
			}
		}
		n, err = d.body.Read(p[:min(int64(len(p)), d.object.Size-d.at)])
		d.at += int64(n)
		if d.hash != nil {
			d.hash.Write(p[:n])
		}
		if err == nil || d.at == d.object.Size {
			continue
		}
		d.close()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if d.cuts++; d.cuts > resumeMost {
			return n, fmt.Errorf("%s was cut off at byte %d of %d: %w", d.object.Name, d.at, d.object.Size, err)
		}
	}
	if d.at < d.object.Size {
		return n, nil
	}
	if err := d.check(); err != nil {
		return 0, err
	}
	return n, io.EOF
}

// check returns an error unless all that was read is the blob, and nothing follows it.
func (d *download) check() error {
	if d.body != nil {
		if n, _ := io.ReadFull(d.body, make([]byte, 1)); n > 0 {
			return fmt.Errorf("%s has more than %d bytes", d.object.Name, d.object.Size)
		}
		d.close()
	}
	if d.hash != nil && [sha256.Size]byte(d.hash.Sum(nil)) != d.object.Hash {
		return fmt.Errorf("%s has another content than its name says", d.object.Name)
	}
	return nil
}
