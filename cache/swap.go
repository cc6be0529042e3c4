package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// stagePrefix begins the names of files on their way into the workspace.
const stagePrefix = ".bento-tmp-"

// stage is the directory where files are made.
type stage struct {
	*dir
	prefix string
	made   int
	names  []string // what is in it now
}

func openStage(path string) (*stage, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &stage{dir: &dir{Root: r}, prefix: tempName()}, nil
}

func tempName() string { return stagePrefix + strconv.FormatUint(rand.Uint64(), 36) }

// name gives a name that is not in use.
func (s *stage) name() string {
	s.made++
	name := s.prefix + "." + strconv.Itoa(s.made)
	s.names = append(s.names, name)
	return name
}

// discard removes what was staged and not moved.
func (r *restore) discard() {
	if r.stage == nil {
		return
	}
	for _, name := range r.stage.names {
		_ = r.stage.Remove(name)
	}
	r.stage.close()
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
		if r.stage, err = openStage(cmp.Or(r.o.StageDir, r.work.root)); err != nil {
			return err
		}
	}
	s.staged = r.stage.name()
	if s.out.Kind == Link {
		return r.stage.Symlink(s.out.Target, s.staged)
	}
	f, err := r.stage.OpenFile(s.staged, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return cmp.Or(r.fetch(s.out, f), f.Chmod(s.out.Mode), f.Close())
}

// fetch writes the blob of o to f and verifies it on the way.
func (r *restore) fetch(o *Output, f *os.File) error {
	src, check, err := openUnchecked(r.store, o.Digest)
	if err != nil {
		return fmt.Errorf("blob %s: %w", o.Digest, err)
	}
	defer src.Close()
	var to io.Writer = f
	if b, ok := src.(*blobReader); ok && b.dec == nil && o.Size >= cloneSize && clone(f, b.file) {
		to = io.Discard // the bytes are in f; read them all the same
	}
	got, n, err := r.copy(to, src, o.Size)
	switch {
	case err != nil:
		return err
	case n > o.Size || got == o.Digest && n < o.Size:
		return fmt.Errorf("blob %s: not of %d bytes, as the record says", o.Digest, o.Size)
	case got != o.Digest:
		return check(got)
	}
	return nil
}

// cloneSize is the size from which on sharing blocks is worth a try.
const cloneSize = 64 << 10

// openUnchecked opens a blob; check turns what its content hashed to, which was
// not right, into an error.
func openUnchecked(s Store, d Digest) (r io.ReadCloser, check func(got Digest) error, err error) {
	wrong := func(got Digest) error { return &DigestError{Want: d, Got: got} }
	disk, ok := s.(*Disk)
	if !ok {
		r, err = s.Open(d)
		return r, wrong, err
	}
	b, err := disk.open(d)
	if err != nil {
		return nil, nil, err
	}
	return b, func(got Digest) error { return b.damaged(wrong(got)) }, nil
}

// swapAll puts everything into place.
func (r *restore) swapAll() error {
	for _, p := range r.blockers {
		if _, err := r.work.remove(p); err != nil {
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
	d, name, err := r.work.parent(s.out.Path, true)
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
		err = d.Mkdir(name, 0o777)
		if errors.Is(err, fs.ErrExist) {
			err = nil // an output below it came first
		}
	default:
		err = r.move(s, d, name)
	}
	if err == nil {
		r.stats.Written++
		r.stats.Bytes += s.out.Size
	}
	return err
}

// move puts a staged file or link into place.
func (r *restore) move(s *step, d *dir, name string) error {
	err := renameAt(r.stage.dir, s.staged, d, name)
	if isOtherDisk(err) {
		err = r.carry(s, d, name)
	}
	if err == nil {
		r.stage.names = r.stage.names[1:] // they are moved in the order they were made
	}
	return err
}

// carry copies a staged file to the file system of its place and moves it there.
func (r *restore) carry(s *step, d *dir, name string) error {
	sweep(d)
	temp := tempName()
	err := r.copyTo(s, d, temp)
	if err == nil {
		err = d.Rename(temp, name)
	}
	if err != nil {
		_ = d.Remove(temp)
		return err
	}
	return r.stage.Remove(s.staged)
}

func (r *restore) copyTo(s *step, d *dir, temp string) error {
	if s.out.Kind == Link {
		return d.Symlink(s.out.Target, temp)
	}
	from, err := r.stage.Open(s.staged)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := d.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return cmp.Or(err, to.Chmod(s.out.Mode), to.Close())
}

// sweep removes what a killed process left of carry.
func sweep(d *dir) {
	entries, _ := fs.ReadDir(d.FS(), ".")
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), stagePrefix) && !e.IsDir() && abandoned(fi) {
			_ = d.Remove(e.Name())
		}
	}
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
		remove := r.work.remove
		if gone[p] {
			remove = r.work.removeDir
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
func chmodFile(d *dir, name string, o *Output) error {
	fi, err := d.Lstat(name)
	if err != nil {
		return err
	}
	f, err := d.read(name, fi)
	if err != nil {
		return d.Chmod(name, o.Mode) // it cannot be read, or not yet
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
		d, err := r.work.at(s.out.Path, false)
		if err == nil {
			err = d.Chmod(".", s.out.Mode)
		}
		if err != nil {
			return fmt.Errorf("output %q: %w", s.out.Path, err)
		}
	}
	return nil
}
