package share

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Fetch implements remote.Backend.
func (s *share) Fetch(ctx context.Context, list []remote.Want, take func(remote.Want, io.Reader) error) error {
	root, err := s.root(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, w := range list {
		if err := fetch(ctx, root, w, take); err != nil {
			return err
		}
	}
	return nil
}

func fetch(ctx context.Context, root *rawfile.File, w remote.Want, take func(remote.Want, io.Reader) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f, info, err := open(root, blobs, w.Digest)
	if errors.Is(err, fs.ErrNotExist) {
		return take(w, nil)
	}
	if err != nil {
		return faultOf(err)
	}
	defer f.Close()
	if info.Size != w.Size || w.From < 0 || w.From > w.Size { // after a power cut; Missing reports it
		return take(w, nil)
	}
	r := &content{stop: func() error { return context.Cause(ctx) }, file: f, want: w, left: w.Size - w.From}
	if w.From == 0 {
		r.hash = sha256.New()
	} else if _, err := f.Seek(w.From, io.SeekStart); err != nil {
		return faultOf(err)
	}
	err = take(w, r)
	if r.wrong {
		removeBlob(root, w.Digest)
	}
	return err
}

// content reads a blob and verifies it.
type content struct {
	stop  func() error
	file  *rawfile.File
	want  remote.Want
	left  int64
	hash  hash.Hash // nil: the caller verifies
	wrong bool      // the hash does not match
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if err := c.stop(); err != nil {
		return 0, err
	}
	if c.left == 0 {
		return 0, c.end()
	}
	n, err := c.file.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if c.hash != nil {
		c.hash.Write(p[:n])
	}
	switch {
	case err == io.EOF: // it has become shorter
		return n, io.ErrUnexpectedEOF
	case err != nil:
		return n, faultOf(err)
	}
	return n, nil
}

func (c *content) end() error {
	if c.hash != nil && [sha256.Size]byte(c.hash.Sum(nil)) != c.want.Hash {
		c.wrong = true
		return fmt.Errorf("blob %x of the remote cache: its content has another digest", c.want.Hash)
	}
	return io.EOF
}

// Send implements remote.Backend.
func (s *share) Send(ctx context.Context, list []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	root, err := s.root(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	s.swept.Do(func() { sweep(root) })
	var errs []error
	for _, d := range list {
		err := send(ctx, root, d, open)
		switch {
		case err == nil:
			sent(d)
		case ctx.Err() != nil || errors.Is(err, remote.ErrDenied):
			return errors.Join(append(errs, err)...)
		default: // others may be taken
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func send(ctx context.Context, root *rawfile.File, d remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if has(root, d) { // from another writer, since it was missing
		return nil
	}
	source, err := open(d)
	if err != nil {
		return err
	}
	defer source.Close()
	return faultOf(store(root, blobs, d, func(f io.Writer) error { return copyTo(ctx, f, source, d) }))
}

// copyTo copies a blob and verifies it.
func copyTo(ctx context.Context, to io.Writer, source io.Reader, d remote.Digest) error {
	h := sha256.New()
	from := &stoppable{func() error { return context.Cause(ctx) }, source}
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, d.Size+1))
	if err != nil {
		return err
	}
	if n != d.Size || [sha256.Size]byte(h.Sum(nil)) != d.Hash {
		return fmt.Errorf("blob %x: its content has another digest or size", d.Hash)
	}
	return nil
}

type stoppable struct {
	stop func() error
	r    io.Reader
}

func (r *stoppable) Read(p []byte) (int, error) {
	if err := r.stop(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
