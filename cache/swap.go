package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/bentobuild/bento/cache/rawfile"
	"github.com/bentobuild/bento/cache/shelf"
	"github.com/bentobuild/bento/cache/workdir"
)

// closeStage removes what was staged and not moved.
func (r *restore) closeStage() {
	if r.stage != nil {
		r.stage.Close()
	}
}

// stageAll makes every file and link that is to be put into place.
func (r *restore) stageAll() error {
	for i := range r.steps {
		s := &r.steps[i]
		if s.action != replace || s.out.Kind == Dir {
			continue
		}
		if err := r.stageOne(s); err != nil {
			return fmt.Errorf("output %q: %w", s.out.Path, err)
		}
	}
	return nil
}

func (r *restore) stageOne(s *step) (err error) {
	if r.stage == nil {
		if r.stage, err = workdir.OpenStage(cmp.Or(r.o.StageDir, r.work.Path())); err != nil {
			return err
		}
	}
	if s.out.Kind == Link {
		s.staged, err = r.stage.Link(s.out.Target)
		return err
	}
	f, name, err := r.stage.File()
	if err != nil {
		return err
	}
	s.staged = name
	return cmp.Or(r.fetch(s.out, f), f.Chmod(s.out.Mode), f.Close())
}

// fetch writes the blob of o to f and verifies it on the way.
func (r *restore) fetch(o *Output, f *rawfile.File) error {
	src, err := r.store.Open(o.Digest)
	if err != nil {
		return fmt.Errorf("blob %s: %w", o.Digest, err)
	}
	defer src.Close()
	var to io.Writer = f
	blob, ours := src.(*shelf.Blob)
	if ours {
		blob.Unverified() // once is enough
		if o.Size >= cloneSize && blob.File() != nil && f.Clone(blob.File()) {
			to = io.Discard // the bytes are in f; read them all the same
		}
	}
	got, n, err := r.copy(to, src, o.Size)
	switch {
	case err != nil:
		return err
	case n > o.Size || got == o.Digest && n < o.Size:
		return fmt.Errorf("blob %s: not of %d bytes, as the record says", o.Digest, o.Size)
	case got == o.Digest:
		return nil
	}
	err = &DigestError{Want: o.Digest, Got: got}
	if ours {
		err = blob.Damaged(err)
	}
	return err
}

// cloneSize is the size from which on sharing blocks is worth a try.
const cloneSize = 64 << 10

// swapAll puts everything into place.
func (r *restore) swapAll() error {
	for _, p := range r.blockers {
		if _, err := r.work.Remove(p); err != nil {
			return err
		}
	}
	for i := range r.steps {
		if err := r.swap(&r.steps[i]); err != nil {
			return fmt.Errorf("output %q: %w", r.steps[i].out.Path, err)
		}
	}
	if err := cmp.Or(r.removeStale(), r.chmodDirs()); err != nil {
		return err
	}
	for i := range r.steps {
		if o := r.steps[i].out; r.o.Restored != nil && o.Kind == File {
			r.o.Restored(o.Path, o.Digest)
		}
	}
	return nil
}

func (r *restore) swap(s *step) error {
	d, name, err := r.work.Parent(s.out.Path, true)
	if err != nil {
		return err
	}
	switch {
	case s.action == verify:
		return nil
	case s.action == chmod && s.out.Kind == Dir:
		return nil // by chmodDirs
	case s.action == chmod:
		return chmodFile(d, name, s.out)
	case s.out.Kind == Dir:
		err = d.MkdirAt(name, 0o777)
		if errors.Is(err, fs.ErrExist) {
			err = nil // an output below it came first
		}
	default:
		err = r.stage.Move(s.staged, d, name)
	}
	if err == nil {
		r.stats.Written++
		r.stats.Bytes += s.out.Size
	}
	return err
}

// removeStale removes what is stale and not wanted, and the directories above that
// hold nothing any more.
func (r *restore) removeStale() error {
	gone := make(map[string]bool, len(r.stale)) // path → is a directory
	for p := range r.stale {
		gone[p] = false
		for p = path.Dir(p); p != "."; p = path.Dir(p) {
			if _, ok := gone[p]; !ok {
				gone[p] = !r.stale[p]
			}
		}
	}
	for i := range r.want {
		delete(gone, r.want[i].Path)
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(gone))) {
		remove := r.work.Remove
		if gone[p] {
			remove = r.work.RemoveDir
		}
		removed, err := remove(p)
		if err != nil {
			return fmt.Errorf("stale output %q: %w", p, err)
		}
		if removed && r.stale[p] {
			r.stats.Removed++
		}
	}
	return nil
}

// chmodFile sets the mode of a file that is otherwise right.
func chmodFile(d *workdir.Dir, name string, o *Output) error {
	info, err := d.LstatAt(name)
	if err != nil {
		return err
	}
	f, err := d.ReadFile(name, info)
	if err != nil {
		return d.ChmodAt(name, o.Mode) // it cannot be read, or not yet
	}
	defer f.Close()
	return f.Chmod(o.Mode)
}

// chmodDirs sets the modes of directories at the end: one that is read-only could
// not be filled.
func (r *restore) chmodDirs() error {
	for _, s := range slices.Backward(r.steps) {
		if s.out.Kind != Dir {
			continue
		}
		d, err := r.work.At(s.out.Path, false)
		if err == nil {
			err = d.Chmod(s.out.Mode)
		}
		if err != nil {
			return fmt.Errorf("output %q: %w", s.out.Path, err)
		}
	}
	return nil
}

// Remove removes what is at p in the workspace at root: a file, a link, an empty
// directory. A directory with something in it stays. It is no error when nothing
// is there; what lies behind a link is not there.
func Remove(root, p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	w, err := workdir.Open(root)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Remove(p)
	return err
}
