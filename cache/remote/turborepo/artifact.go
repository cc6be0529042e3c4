package turborepo

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
)

// An artifact is a tar, compressed with zstd, as turbo writes it: the envelope as its first entry, the outputs in the order
// of the record, the log. A file whose content an earlier entry has is a hard link to it.
const (
	recordName = "bento-record"
	logName    = "bento-log"
)

// Bounds of an artifact.
const (
	maxWindow = 8 << 20  // of zstd, in bytes
	reserve   = 64 << 10 // bytes of a tar beside its entries
	perEntry  = 4 << 10  // bytes of an entry beside its content and twice its names
)

// entry is one entry of a tar after the first.
type entry struct {
	tar.Header
	digest cache.Digest // of a regular file
}

// entriesOf calls f for the entries of a record, in order.
func entriesOf(r *cache.Record, f func(e *entry) error) error {
	seen := make(map[cache.Digest]string)
	for i := range r.Outputs {
		o := &r.Outputs[i]
		e := &entry{Header: tar.Header{Name: o.Path, Mode: int64(o.Mode), ModTime: time.Unix(0, 0)}}
		switch o.Kind {
		case cache.Dir:
			e.Typeflag, e.Name = tar.TypeDir, o.Path+"/"
		case cache.Link:
			e.Typeflag, e.Linkname, e.Mode = tar.TypeSymlink, o.Target, 0o777
		default:
			if first, again := seen[o.Digest]; again && o.Size > 0 {
				e.Typeflag, e.Linkname = tar.TypeLink, first
				break
			}
			seen[o.Digest] = o.Path
			e.Typeflag, e.Size, e.digest = tar.TypeReg, o.Size, o.Digest
		}
		if err := f(e); err != nil {
			return err
		}
	}
	if r.Log == (cache.Digest{}) {
		return nil
	}
	return f(&entry{Header: tar.Header{Typeflag: tar.TypeReg, Name: logName, Mode: 0o644, Size: r.LogSize, ModTime: time.Unix(0, 0)}, digest: r.Log})
}

// sizeOf returns a bound of the size of a record's tar, in bytes.
func sizeOf(r *cache.Record, sealed int) int64 {
	size := int64(sealed) + reserve
	_ = entriesOf(r, func(e *entry) error {
		size += e.Size + perEntry + 2*int64(len(e.Name)+len(e.Linkname))
		return nil
	})
	return size
}

// write writes the artifact of a record. open opens its blobs. It writes the same each time.
func write(w io.Writer, r *cache.Record, sealed []byte, open func(cache.Digest) (io.ReadCloser, error)) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = writeEntries(t, r, sealed, open)
	if err == nil {
		err = t.Close()
	}
	return errors.Join(err, z.Close())
}

func writeEntries(t *tar.Writer, r *cache.Record, sealed []byte, open func(cache.Digest) (io.ReadCloser, error)) error {
	first := &tar.Header{Typeflag: tar.TypeReg, Name: recordName, Mode: 0o644, Size: int64(len(sealed)), ModTime: time.Unix(0, 0)}
	if err := t.WriteHeader(first); err != nil {
		return err
	}
	if _, err := t.Write(sealed); err != nil {
		return err
	}
	return entriesOf(r, func(e *entry) error {
		if err := t.WriteHeader(&e.Header); err != nil {
			return fmt.Errorf("%w: %w", remote.ErrPrivate, err)
		}
		if e.Typeflag != tar.TypeReg {
			return nil
		}
		f, err := open(e.digest)
		if err != nil {
			return &remote.LocalError{Err: err}
		}
		defer f.Close()
		n, err := io.Copy(t, f)
		switch {
		case errors.Is(err, tar.ErrWriteTooLong) || err == nil && n != e.Size:
			return &remote.LocalError{Err: fmt.Errorf("blob %s has not %d bytes", e.digest, e.Size)}
		case err != nil:
			return err
		}
		return nil
	})
}

// errBudget is the error of an artifact that is longer than it may be.
var errBudget = errors.New("it is longer than its record says")

// budget reads at most left bytes.
type budget struct {
	r    io.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBudget
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// artifact reads an artifact from outside. The memory that it takes does not depend on what the artifact says.
type artifact struct {
	packed, plain *budget
	z             *zstd.Decoder
	t             *tar.Reader
}

func newArtifact(r io.Reader) (*artifact, error) {
	a := &artifact{packed: &budget{r, remote.MaxEnvelope + reserve}}
	var err error
	a.z, err = zstd.NewReader(a.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow*2))
	if err != nil {
		return nil, err
	}
	a.plain = &budget{a.z, remote.MaxEnvelope + reserve}
	a.t = tar.NewReader(a.plain)
	return a, nil
}

func (a *artifact) close() { a.z.Close() }

// errOther is the error of an artifact that no bento has made.
var errOther = fmt.Errorf("an artifact of another tool: %w", remote.ErrMiss)

// envelope reads the first entry, which is that of id, or returns a *remote.RefusedError or errOther.
func (a *artifact) envelope(id remote.ID, trust *remote.Trust) (*remote.Envelope, error) {
	h, err := a.t.Next()
	if err != nil {
		return nil, errors.Join(errOther, err)
	}
	if h.Name != recordName || h.Typeflag != tar.TypeReg {
		return nil, errOther
	}
	if h.Size > remote.MaxEnvelope {
		return nil, refuse(remote.OutOfBounds, nil)
	}
	var b bytes.Buffer // it grows with what arrives
	if _, err := io.Copy(&b, a.t); err != nil {
		return nil, err
	}
	e, err := remote.Open(b.Bytes(), id, trust)
	if err != nil {
		return nil, err
	}
	size := sizeOf(e.Record, b.Len())
	a.packed.left, a.plain.left = size+size/64, size
	return e, nil
}

// files reads the other entries, which must be those of the record, and calls take for each file.
func (a *artifact) files(r *cache.Record, take func(d cache.Digest, size int64, content io.Reader) error) error {
	err := entriesOf(r, func(want *entry) error {
		h, err := a.t.Next()
		if err != nil {
			return err
		}
		if h.Name != want.Name || h.Typeflag != want.Typeflag || h.Size != want.Size || h.Linkname != want.Linkname {
			return refuse(remote.Damaged, fmt.Errorf("its entry %q is not the output %q", h.Name, want.Name))
		}
		if want.Typeflag != tar.TypeReg {
			return nil
		}
		return take(want.digest, want.Size, a.t)
	})
	if err != nil {
		return err
	}
	switch h, err := a.t.Next(); {
	case err == nil:
		return refuse(remote.Damaged, fmt.Errorf("it has the entry %q too many", h.Name))
	case err != io.EOF:
		return err
	}
	return nil
}

func refuse(reason remote.Reason, cause error) error {
	return &remote.RefusedError{Reason: reason, Cause: cause}
}

// judged returns the error of reading an artifact: of the way, if that broke, or else of what was read.
func judged(err, way error) error {
	var refused *remote.RefusedError
	var local *remote.LocalError
	switch {
	case err == nil:
		return nil
	case way != nil:
		return way
	case errors.As(err, &refused) || errors.As(err, &local):
		return err
	case errors.Is(err, errBudget):
		return refuse(remote.OutOfBounds, err)
	case errors.Is(err, remote.ErrMiss):
		return remote.ErrMiss
	}
	return refuse(remote.Damaged, err)
}
