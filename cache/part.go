package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strconv"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Part is the beginning of a large blob that arrives in pieces, perhaps over several processes. It is a locked file in
// tmp whose name follows from the digest. Prune removes it like any file there to which nothing was written for an hour.
// It is used by one goroutine, which ends it by Keep, Drop or Add.
type Part struct {
	store *Disk
	sum   Digest
	draft *draft
	hash  *blake3.Hasher // of the bytes before the offset
	stop  func() error   // returns the cause when the work ends early
	size  int64          // when it was opened
}

// partName returns the name of the file of a part.
func partName(d Digest) string {
	sum := Sum(append([]byte("bento part of a blob\x00"), d[:]...))
	return strconv.FormatUint(binary.LittleEndian.Uint64(sum[:8]), 36)
}

// PartSize returns how many bytes of a blob an earlier attempt has left, without opening them.
func (s *Disk) PartSize(d Digest) (size int64) {
	_ = s.with(false, func(f *format) error {
		tmp, done, err := f.temp(false)
		if err != nil {
			return err
		}
		defer done()
		if info, err := tmp.Stat(partName(d)); err == nil && info.Mode.IsRegular() {
			size = info.Size
		}
		return nil
	})
	return size
}

// Part opens the part of a blob, and makes an empty one. It returns an error if another process has it. The caller
// calls Cut before it writes.
func (s *Disk) Part(ctx context.Context, d Digest) (p *Part, err error) {
	err = s.with(true, func(f *format) error {
		tmp, done, err := f.temp(true)
		if err != nil {
			return err
		}
		defer done()
		file, size, err := lockPart(tmp, partName(d))
		if err == nil {
			p = &Part{store: s, sum: d, size: size, draft: &draft{File: file, name: partName(d)}, hash: blake3.New(), stop: func() error { return context.Cause(ctx) }}
		}
		return err
	})
	return p, err
}

func lockPart(tmp *owndir.Dir, name string) (file *rawfile.File, size int64, err error) {
	file, own, err := tmp.Update(name, owndir.Private)
	if err != nil {
		return nil, 0, err
	}
	if !own {
		err = errors.New("a part of a blob has a second name")
	} else {
		err = file.TryLock()
	}
	var mine, there rawfile.Info
	if err == nil { // the process that had the lock may have moved the file
		if mine, err = file.Stat(); err == nil {
			there, err = tmp.Stat(name)
		}
		if err == nil && !rawfile.Same(mine, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, mine.Size, nil
}

// Size returns how many bytes the part had when it was opened.
func (p *Part) Size() int64 { return p.size }

// Cut keeps the first size bytes, which it reads, and sets the place of the next Write behind them.
func (p *Part) Cut(size int64) error {
	info, err := p.draft.Stat()
	if err != nil {
		return err
	}
	if info.Size < size {
		return io.ErrUnexpectedEOF
	}
	if err := p.draft.Truncate(size); err != nil {
		return err
	}
	if err := p.draft.Rewind(); err != nil {
		return err
	}
	for left := size; left > 0; {
		if err := p.stop(); err != nil {
			return err
		}
		n, err := io.CopyN(p.hash, p.draft, min(left, 4<<20))
		if left -= n; err != nil {
			return err
		}
	}
	return nil
}

// Write appends to the part.
func (p *Part) Write(b []byte) (int, error) {
	if err := p.stop(); err != nil {
		return 0, err
	}
	n, err := p.draft.Write(b)
	_, _ = p.hash.Write(b[:n])
	return n, err
}

// Keep leaves the part for a later attempt.
func (p *Part) Keep() { _ = p.draft.Close() }

// Drop removes the part.
func (p *Part) Drop() {
	_ = p.store.end(p.draft, errDropped, func(*format, *owndir.Dir) error { return nil })
}

var errDropped = errors.New("dropped")

// Add makes the part a blob of the store. If its digest is another one, it returns a *DigestError and removes the part.
func (p *Part) Add() error {
	var err error
	if got := hashed(p.hash); got != p.sum {
		err = &DigestError{Want: p.sum, Got: got}
	} else {
		err = p.draft.Chmod(p.store.blobMode())
	}
	return p.store.publish(p.draft, place{blobs, p.sum, ""}, p.store.now(), err)
}

// blobMode returns the mode that files of the store have by the umask of its maker.
func (s *Disk) blobMode() fs.FileMode {
	mode := fs.FileMode(0o400)
	_ = s.with(false, func(f *format) error {
		if info, err := f.Stat(madeFile); err == nil {
			mode |= info.Mode.Perm() & 0o444
		}
		return nil
	})
	return mode
}
