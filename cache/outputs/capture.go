// Package outputs moves the outputs of tasks between a workspace and a cache: a Reader captures them
// into a store, Restore writes them back.
package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/rawfile"
)

// smallFile is the largest file that Capture reads into memory, and so reads once.
const smallFile = 256 << 10

// readAgain is how often Capture reads a file that changes meanwhile.
const readAgain = 3

// Reader captures outputs with buffers that it keeps. The zero value is ready for use, also by several
// goroutines.
type Reader struct {
	buffers sync.Pool // of *[]byte
}

// Capture reads the outputs at paths in the workspace at root, an absolute path, into s and returns
// them sorted by path. With a nil Store it only computes the digests. A directory does not include
// its content.
//
// It returns a *cache.RefusedError for a path that cannot be an output: a device, a socket, a link out of
// the workspace, a path behind a link or in a .git. It returns fs.ErrNotExist for a missing path, and any
// error of s.
//
// Once stop is closed it returns context.Canceled, even in the middle of a file. stop may be nil.
func (r *Reader) Capture(stop <-chan struct{}, s cache.Store, root string, paths []string) ([]cache.Output, error) {
	if len(paths) == 0 {
		return []cache.Output{}, nil
	}
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	w, err := Open(root)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	buf, ok := r.buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	defer r.buffers.Put(buf)
	c := &capture{store: s, work: w, stop: stop, buf: buf}
	outputs := make([]cache.Output, 0, len(paths))
	for _, p := range paths {
		if stopped(stop) {
			return nil, context.Canceled
		}
		o, err := c.read(p)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, o)
	}
	return outputs, nil
}

type capture struct {
	store cache.Store
	work  *Root
	stop  <-chan struct{}
	buf   *[]byte
}

func (c *capture) read(p string) (cache.Output, error) {
	o := cache.Output{Path: p}
	if err := cache.CheckPath(p); err != nil {
		return o, err
	}
	d, name, err := c.work.Parent(p, false)
	var blocked *BlockedError
	if errors.As(err, &blocked) {
		return o, cache.Refuse(p, "%s", blocked)
	}
	if err == nil {
		err = c.readIn(d, name, &o)
	}
	var refused *cache.RefusedError
	if err != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("output %q: %w", p, err)
	}
	return o, err
}

func (c *capture) readIn(d *Dir, name string, o *cache.Output) error {
	info, err := d.LstatAt(name)
	if err != nil {
		return err
	}
	o.Mode = info.Mode.Perm()
	switch info.Mode.Type() {
	case 0:
		o.Kind = cache.File
		return c.file(d, name, info, o)
	case fs.ModeDir:
		o.Kind = cache.Dir
		return nil
	case fs.ModeSymlink:
		o.Kind, o.Mode = cache.Link, 0
		if o.Target, err = d.ReadlinkAt(name); err != nil {
			return err
		}
		return cache.CheckTarget(c.work.Path(), o.Path, o.Target)
	}
	return cache.Refuse(o.Path, "it is %s", special(info.Mode))
}

func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func (c *capture) file(d *Dir, name string, info rawfile.Info, o *cache.Output) error {
	f, err := d.ReadFile(name, info)
	if errors.Is(err, fs.ErrPermission) {
		return cache.Refuse(o.Path, "its mode %04o does not let it be read; let the task leave it readable (chmod u+r)", info.Mode.Perm())
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size <= smallFile {
		return c.small(f, int(info.Size), o)
	}
	for range readAgain {
		var digest *cache.DigestError
		if err = c.large(f, o); !errors.As(err, &digest) {
			return err
		}
	}
	return ErrChanged
}

// small reads a file once. It calls large for a file that has grown meanwhile.
func (c *capture) small(f *rawfile.File, size int, o *cache.Output) error {
	*c.buf = slices.Grow((*c.buf)[:0], size+1)[:size+1]
	n, err := io.ReadFull(f, *c.buf)
	switch {
	case err == nil:
		return c.large(f, o)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	data := cache.Hash((*c.buf)[:n])
	o.Digest, o.Size = data.Sum(), int64(n)
	if c.store == nil {
		return nil
	}
	return c.store.Add(o.Digest, data)
}

// large reads a file twice: for its digest, and into the store, which compares the two.
func (c *capture) large(f *rawfile.File, o *cache.Output) (err error) {
	if err = f.Rewind(); err != nil {
		return err
	}
	h := blake3.New()
	if o.Size, err = io.Copy(h, until{f, c.stop}); err != nil {
		return err
	}
	h.Sum(o.Digest[:0])
	if c.store == nil {
		return nil
	}
	if err = f.Rewind(); err != nil {
		return err
	}
	return c.store.Add(o.Digest, until{f, c.stop})
}
