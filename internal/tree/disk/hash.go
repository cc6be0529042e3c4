package disk

import (
	"context"
	"errors"
	"io"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/rawfile"
)

// ErrKind is the error of a file that is not regular.
var ErrKind = errors.New("not a regular file")

var errChanges = errors.New("it changes while it is read")

// Hasher reads files. It is not safe for concurrent use.
type Hasher struct {
	blake *blake3.Hasher
	buf   []byte
	stop  <-chan struct{}
}

// NewHasher returns a Hasher. Once stop is closed, its methods return context.Canceled, even in the
// middle of a file; stop may be nil.
func NewHasher(stop <-chan struct{}) *Hasher {
	return &Hasher{blake: blake3.New(), buf: make([]byte, 128<<10), stop: stop}
}

// File returns the stat of a regular file and the digest of its content. Both belong to the same
// state: if a file changes while it is read, File reads it again, up to four times in all.
func (h *Hasher) File(root, path string) (e Entry, sum [32]byte, err error) {
	f, err := openFile(root, path)
	if err != nil {
		return Entry{}, sum, err
	}
	defer f.Close()
	e = Entry{Path: path}
	if err := e.stat(f); err != nil {
		return Entry{}, sum, err
	}
	return h.read(f, e)
}

// Same is File for a file with the earlier stat was. If the stat after the read is still the same,
// the file has not changed, so no stat before the read is needed.
func (h *Hasher) Same(root string, was *Entry) (e Entry, sum [32]byte, err error) {
	f, err := openFile(root, was.Path)
	if err != nil {
		return Entry{}, sum, err
	}
	defer f.Close()
	return h.read(f, *was)
}

// read reads f, which had the stat e.
func (h *Hasher) read(f *rawfile.File, e Entry) (_ Entry, sum [32]byte, err error) {
	after := Entry{Path: e.Path}
	for range 4 {
		if e.Kind != File {
			return Entry{}, sum, ErrKind
		}
		size, err := h.content(f, e.Size)
		if err == nil {
			err = after.stat(f)
		}
		if err != nil {
			return Entry{}, sum, err
		}
		if size == e.Size && after.SameStat(&e) {
			h.blake.Sum(sum[:0])
			return after, sum, nil
		}
		if after.Kind != File {
			return Entry{}, sum, ErrKind
		}
		if err := f.Rewind(); err != nil {
			return Entry{}, sum, err
		}
		e = after
	}
	return Entry{}, sum, errChanges
}

// content hashes f and returns the number of bytes. It stops at size; the later stat shows whether
// the file is longer.
func (h *Hasher) content(f *rawfile.File, size int64) (n int64, err error) {
	h.blake.Reset()
	for n < size {
		select {
		case <-h.stop:
			return n, context.Canceled
		default:
		}
		k, err := f.Read(h.buf)
		h.blake.Write(h.buf[:k])
		n += int64(k)
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
