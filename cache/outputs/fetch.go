package outputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Several goroutines stage results of at least shareFiles files.
const shareFiles = 32

// cloneSize is the least size of a file that is restored by sharing blocks.
const cloneSize = 64 << 10

// stageAll makes every file and link that is to be moved into place. It verifies all blobs even
// when some are damaged or missing.
func (r *restore) stageAll() error {
	var todo []*step
	for i := range r.steps {
		if s := &r.steps[i]; s.action == replace && s.out.Kind != cache.Dir {
			todo = append(todo, s)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	if _, err := r.staging(); err != nil {
		return err
	}
	if len(todo) < shareFiles || r.made != nil {
		return r.stageSome(&r.copier, todo, new(atomic.Int64))
	}
	return r.stageTogether(todo)
}

func (r *restore) stageTogether(todo []*step) error {
	errs := make([]error, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = r.stageSome(&copier{stop: r.o.Stop}, todo, &next) })
	}
	group.Wait()
	return cmp.Or(errs...)
}

// stageSome takes steps until none is left or the file system returns an error.
func (r *restore) stageSome(c *copier, todo []*step, next *atomic.Int64) (first error) {
	for i := next.Add(1) - 1; i < int64(len(todo)); i = next.Add(1) - 1 {
		if stopped(c.stop) {
			return context.Canceled
		}
		err := r.stageOne(c, todo[i])
		if err == nil {
			continue
		}
		if first == nil {
			first = fmt.Errorf("output %q: %w", todo[i].out.Path, err)
		}
		if !errors.Is(err, cache.ErrMiss) {
			break
		}
	}
	return first
}

func (r *restore) stageOne(c *copier, s *step) (err error) {
	if s.out.Kind == cache.Link {
		s.staged, err = r.stage.Link(s.out.Target)
		return err
	}
	f, name, err := r.stage.File(s.out.Mode)
	if err != nil {
		return err
	}
	s.staged = name
	if r.made != nil {
		return cmp.Or(r.made.copyFile(c, s.out, f), f.Close())
	}
	return cmp.Or(r.fetch(c, s.out, f), f.Close())
}

// fetch writes the blob of o to f and verifies it.
func (r *restore) fetch(c *copier, o *cache.Output, f *rawfile.File) error {
	src, err := r.store.Open(o.Digest)
	if err != nil {
		return fmt.Errorf("blob %s: %w", o.Digest, err)
	}
	defer src.Close()
	var to io.Writer = f
	blob, ours := src.(*cache.Blob)
	if ours {
		blob.Unverified() // to verifies the digest
		if o.Size >= cloneSize && cloned(f, blob, o.Size) {
			to = io.Discard // f has the bytes; the read verifies them
		}
	}
	got, n, err := c.copy(to, src, o.Size)
	switch {
	case err != nil:
		return err
	case got == o.Digest && n == o.Size:
		return nil
	case got == o.Digest || n > o.Size || hasMore(src):
		return fmt.Errorf("blob %s: its size is not the recorded %d bytes", o.Digest, o.Size)
	}
	err = &cache.DigestError{Want: o.Digest, Got: got}
	if ours {
		err = blob.Damaged(err)
	}
	return err
}

// cloned makes f share the blocks of a blob of the right size, and reports whether it did.
func cloned(f *rawfile.File, blob *cache.Blob, size int64) bool {
	plain := blob.File()
	if plain == nil {
		return false
	}
	info, err := plain.Stat()
	return err == nil && info.Size == size && f.Clone(plain)
}

// hasMore reports whether r has bytes left.
func hasMore(r io.Reader) bool {
	var b [1]byte
	n, _ := io.ReadFull(r, b[:])
	return n > 0
}
