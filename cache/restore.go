package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache/rawfile"
	"github.com/bentobuild/bento/cache/workdir"
)

// RestoreOptions say how to restore.
type RestoreOptions struct {
	// Stale lists what an earlier run of the same task has made. What of it is not
	// wanted is removed; a directory only when it is empty.
	Stale []string
	// Current gives the digest of a file in the workspace when that is known without
	// reading it. Nil, or false: the file is read.
	Current func(path string) (Digest, bool)
	// Restored, when not nil, is called at the end with each file that was written,
	// changed or read.
	Restored func(path string, d Digest)
	// StageDir is where files are made before they are moved into place, best on the
	// file system of the workspace. It is made when missing. "": the workspace itself.
	StageDir string
}

// RestoreStats counts what Restore did.
type RestoreStats struct {
	Written int   // files, links and directories that were made or replaced
	Kept    int   // that were right already, up to their mode
	Removed int   // stale ones
	Bytes   int64 // of the files written
}

// Restore makes the workspace at root, an absolute path, hold exactly the outputs
// want, which are sorted by path. What is right already is not touched. Everything
// else is first fetched from s and verified; only then is anything moved into
// place, each file in one step: with an error from s nothing has changed, and
// whoever looks meanwhile sees old files or new ones, all whole.
//
// Nothing is written through a link, into a .git or out of the workspace, and no
// file is removed that is not wanted, not stale, or not in the place of a wanted
// one: that is a *RefusedError, before anything has changed.
func Restore(s Store, root string, want []Output, o RestoreOptions) (RestoreStats, error) {
	if err := checkRestore(root, want, o.Stale); err != nil {
		return RestoreStats{}, err
	}
	w, err := workdir.Open(root)
	if err != nil {
		return RestoreStats{}, err
	}
	defer w.Close()
	r := &restore{store: s, work: w, o: &o, want: want, stale: make(map[string]bool, len(o.Stale))}
	for _, p := range o.Stale {
		r.stale[p] = true
	}
	defer r.closeStage()
	for _, phase := range []func() error{r.compareAll, r.stageAll, r.swapAll} {
		if err := phase(); err != nil {
			return r.stats, err
		}
	}
	return r.stats, nil
}

func checkRestore(root string, want []Output, stale []string) error {
	if err := checkTree(want); err != nil {
		return err
	}
	for i := range want {
		if want[i].Kind != Link {
			continue
		}
		if err := checkTarget(root, want[i].Path, want[i].Target); err != nil {
			return err
		}
	}
	for _, p := range stale {
		if err := CheckPath(p); err != nil {
			return err
		}
	}
	return nil
}

// restore is one call of Restore.
type restore struct {
	store Store
	work  *workdir.Root
	o     *RestoreOptions
	want  []Output
	stale map[string]bool
	stats RestoreStats

	steps    []step
	blockers []string // in the way of a wanted path; what lies in a directory first
	stage    *workdir.Stage
	hash     *blake3.Hasher
	buf      []byte
}

// step is what one output needs.
type step struct {
	out    *Output
	action action
	staged string // name in the stage
}

type action uint8

const (
	keep    action = iota // it is there
	verify                // it is there, found by reading it
	chmod                 // all but the mode is there
	replace               // something else is there, or nothing
)

// compareAll finds out what every output needs.
func (r *restore) compareAll() error {
	for i := range r.want {
		o := &r.want[i]
		action, err := r.look(o)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			return err
		case err != nil:
			return fmt.Errorf("output %q: %w", o.Path, err)
		}
		if action != replace {
			r.stats.Kept++
		}
		if action != keep {
			r.steps = append(r.steps, step{out: o, action: action})
		}
	}
	return nil
}

func (r *restore) look(o *Output) (action, error) {
	d, name, err := r.work.Parent(o.Path, false)
	var blocked *workdir.BlockedError
	switch {
	case errors.As(err, &blocked) && !r.stale[blocked.Path]:
		return 0, refuse(o.Path, "%s", blocked)
	case blocked != nil:
		r.block(blocked.Path)
		return replace, r.work.Deepest().Writable()
	case errors.Is(err, fs.ErrNotExist):
		return replace, r.work.Deepest().Writable()
	case err != nil:
		return 0, err
	}
	info, err := d.LstatAt(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err == nil {
		if action, err := r.differs(d, name, info, o); action != replace || err != nil {
			return action, err
		}
	}
	return replace, d.Writable()
}

// differs compares what is at the place of o with it.
func (r *restore) differs(d *workdir.Dir, name string, info rawfile.Info, o *Output) (action, error) {
	switch {
	case info.IsDir() && o.Kind != Dir:
		return replace, r.clear(o.Path)
	case info.IsDir():
		return mode(info, o), nil
	case o.Kind == Dir:
		r.block(o.Path)
		return replace, nil
	case o.Kind == Link:
		if !info.IsLink() {
			return replace, nil
		}
		if target, err := d.ReadlinkAt(name); err != nil || target != o.Target {
			return replace, err
		}
		return keep, nil
	case !info.Mode.IsRegular() || info.Size != o.Size:
		return replace, nil
	}
	found, err := r.content(d, name, info, o)
	if found == replace || err != nil {
		return found, err
	}
	if mode(info, o) == chmod {
		return chmod, nil
	}
	return found, nil
}

func mode(info rawfile.Info, o *Output) action {
	if info.Mode.Perm() != o.Mode {
		return chmod
	}
	return keep
}

// content compares the bytes of a file with those of o.
func (r *restore) content(d *workdir.Dir, name string, info rawfile.Info, o *Output) (action, error) {
	if r.o.Current != nil {
		if sum, ok := r.o.Current(o.Path); ok {
			if sum == o.Digest {
				return keep, nil
			}
			return replace, nil
		}
	}
	f, err := d.ReadFile(name, info)
	if errors.Is(err, fs.ErrPermission) {
		return replace, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum, _, err := r.copy(io.Discard, f, o.Size)
	if err != nil || sum != o.Digest {
		return replace, err
	}
	return verify, nil
}

// copy copies size bytes, or all if there are fewer, and one more if there are
// more. It gives the digest of what it copied.
func (r *restore) copy(to io.Writer, from io.Reader, size int64) (sum Digest, n int64, err error) {
	if size < copySize {
		r.buf = slices.Grow(r.buf[:0], int(size)+1)[:size+1]
		got, err := io.ReadFull(from, r.buf)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			_, err = to.Write(r.buf[:got])
		}
		return Sum(r.buf[:got]), int64(got), err
	}
	if r.hash == nil {
		r.hash = blake3.New()
	}
	r.hash.Reset()
	r.buf = slices.Grow(r.buf[:0], copySize)[:copySize]
	n, err = io.CopyBuffer(onlyWriter{io.MultiWriter(r.hash, to)}, onlyReader{io.LimitReader(from, size+1)}, r.buf)
	r.hash.Sum(sum[:0])
	return sum, n, err
}

// copySize is how much is copied at a time, and what is copied in one piece.
const copySize = 128 << 10

// These hide what else a reader or writer can do, so that a copy uses its buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

func (r *restore) block(p string) {
	if !slices.Contains(r.blockers, p) {
		r.blockers = append(r.blockers, p)
	}
}

// clear lists all that is in the directory at p, and it, as in the way. Only stale
// files may be.
func (r *restore) clear(p string) error {
	d, err := r.work.At(p, false)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(p, e.Name())
		switch {
		case e.IsDir():
			if err := r.clear(below); err != nil {
				return err
			}
		case !r.stale[below]:
			return refuse(p, "a directory is there, with %q that no run of the task has made", below)
		default:
			r.blockers = append(r.blockers, below)
		}
	}
	r.blockers = append(r.blockers, p)
	return nil
}
