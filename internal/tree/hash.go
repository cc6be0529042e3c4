package tree

import (
	"errors"
	"io"

	"github.com/zeebo/blake3"
)

var (
	errKind    = errors.New("not a regular file")
	errChanges = errors.New("it changes while it is read")
)

// hasher reads files.
type hasher struct {
	blake *blake3.Hasher
	buf   []byte
}

func newHasher() *hasher { return &hasher{blake: blake3.New(), buf: make([]byte, 128<<10)} }

// file gives the stat of a regular file and the digest of its content. Both are of
// one state: a file that is written meanwhile is read again, some times.
func (h *hasher) file(root, path string) (record, error) {
	f, err := openFile(root, path)
	if err != nil {
		return record{}, err
	}
	defer f.close()
	r, after := record{Entry: Entry{Path: path}}, Entry{Path: path}
	if err := f.stat(&r.Entry); err != nil {
		return record{}, err
	}
	for range 3 {
		if r.Kind != File {
			return record{}, errKind
		}
		size, err := h.content(f, r.Size)
		if err == nil {
			err = f.stat(&after)
		}
		if err != nil {
			return record{}, err
		}
		if size == r.Size && after.sameStat(&r.Entry) {
			h.blake.Sum(r.sum[:0])
			return r, nil
		}
		if err := f.rewind(); err != nil {
			return record{}, err
		}
		r.Entry = after
	}
	return record{}, errChanges
}

// content hashes what is in f and gives its size. It ends where size says, since a
// stat after it finds out if there was more.
func (h *hasher) content(f *file, size int64) (n int64, err error) {
	h.blake.Reset()
	for n < size {
		k, err := f.read(h.buf)
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
