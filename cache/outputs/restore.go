package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Options are the settings of a restore.
type Options struct {
	// Stale lists the outputs of an earlier run of the same task. Restore removes those that are no
	// longer outputs; it removes a directory only when it is empty.
	Stale []string
	// Yields reports whether Restore may remove a path that is in the way of an output and not stale: a file where a
	// directory or link belongs, a link where a file belongs, or the content of a directory where a file belongs. Nil
	// allows none.
	Yields func(path string) bool
	// Stop cancels the restore with context.Canceled once it is closed, before anything is moved
	// into place. It may be nil.
	Stop <-chan struct{}
	// Fixed reports whether a path must not be changed. Nil fixes none.
	Fixed func(path string) bool
	// Current returns the digest of a file in the workspace when it is known without reading the
	// file. Restore reads the file when Current is nil or returns false.
	Current func(path string) (cache.Digest, bool)
	// Restored, when not nil, is called at the end with each file that was written, changed or
	// read.
	Restored func(path string, d cache.Digest)
}

// Stats counts the work of a Restore.
type Stats struct {
	Written int   // files, links and directories that Restore made or replaced
	Kept    int   // unchanged ones, and those of which only the mode changed
	Removed int   // stale ones, removed
	Bytes   int64 // size of the written files
}

// Restorer restores results into one workspace. It is safe for concurrent use by results that share
// no path.
type Restorer struct {
	root  string
	stage func() (*rawfile.File, error)

	mu   sync.Mutex
	idle []*hands
}

// NewRestorer returns a Restorer into the workspace at root, an absolute path. It makes
// files in the directory that stage opens, best on the file system of the workspace, before it moves
// them into place. It calls stage only when there is a file to stage, perhaps several times and
// concurrently.
func NewRestorer(root string, stage func() (*rawfile.File, error)) *Restorer {
	return &Restorer{root: root, stage: stage}
}

// Close closes the directories that stay open between calls of Restore.
func (r *Restorer) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.idle {
		h.close()
	}
	r.idle = nil
}

// Restore makes the workspace contain exactly the outputs want, sorted
// by path. It does not touch a file that is right already. It first fetches and verifies all others
// from s, then moves each into place in one step. With an error from s nothing has changed, and a
// concurrent reader finds only whole files. Restore verifies all blobs even when one is damaged or
// missing, so that one new run of the task stores all of them.
//
// Restore writes nothing through a link, into a .git or out of the workspace. It removes only stale
// paths, paths that yield, and a file or link at the place of another. It returns a
// *cache.RefusedError for anything else, before it changes anything.
func (r *Restorer) Restore(s cache.Store, want []cache.Output, o Options) (Stats, error) {
	if err := checkRestore(r.root, want, o.Stale); err != nil {
		return Stats{}, err
	}
	h, err := r.take()
	if err != nil {
		return Stats{}, err
	}
	defer r.release(h)
	h.copier.stop = o.Stop
	one := &restore{store: s, hands: h, o: &o, want: want, stale: make(map[string]bool, len(o.Stale))}
	for _, p := range o.Stale {
		one.stale[p] = true
	}
	for _, phase := range []func() error{one.compareAll, one.stageAll, one.swapAll} {
		if err := phase(); err != nil {
			return one.stats, err
		}
	}
	return one.stats, nil
}

// hands are the buffers and directories of one restore. Later restores reuse them.
type hands struct {
	work     *Root
	stageDir func() (*rawfile.File, error)
	stage    *Stage // nil until a file was staged
	copier   copier
}

func (r *Restorer) take() (*hands, error) {
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		h := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return h, nil
	}
	r.mu.Unlock()
	w, err := Open(r.root)
	if err != nil {
		return nil, err
	}
	return &hands{work: w, stageDir: r.stage}, nil
}

func (r *Restorer) release(h *hands) {
	h.work.Leave()
	if h.stage != nil {
		h.stage.Empty()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, h)
}

func (h *hands) close() {
	if h.stage != nil {
		h.stage.Close()
	}
	h.work.Close()
}

// staging returns the stage and opens it first when necessary.
func (h *hands) staging() (_ *Stage, err error) {
	if h.stage != nil {
		return h.stage, nil
	}
	dir, err := h.stageDir()
	if err == nil {
		h.stage = NewStage(dir)
	}
	return h.stage, err
}

func checkRestore(root string, want []cache.Output, stale []string) error {
	if err := cache.CheckOutputs(want); err != nil {
		return err
	}
	for i := range want {
		if want[i].Kind != cache.Link {
			continue
		}
		if err := cache.CheckTarget(root, want[i].Path, want[i].Target); err != nil {
			return err
		}
	}
	for _, p := range stale {
		if err := cache.CheckPath(p); err != nil {
			return err
		}
	}
	return nil
}

// restore is the state of one call of Restore.
type restore struct {
	*hands
	store cache.Store
	made  *placing // in place of store
	o     *Options
	want  []cache.Output
	stale map[string]bool
	stats Stats

	steps    []step
	blockers []string // paths in the way of a wanted one; the content of a directory first
	missing  string   // last directory found missing or in the way, with "/" at the end
}

// step is the work for one output.
type step struct {
	out    *cache.Output
	action action
	staged string // name of the file in the stage
}

type action uint8

const (
	keep    action = iota // up to date
	verify                // up to date, found by reading it
	chmod                 // only the mode differs
	replace               // missing or different
)

// compareAll finds the step of every output.
func (r *restore) compareAll() error {
	for i := range r.want {
		if stopped(r.o.Stop) {
			return context.Canceled
		}
		o := &r.want[i]
		action, err := r.look(o)
		if err == nil && (action == chmod || action == replace) && r.o.Fixed != nil && r.o.Fixed(o.Path) {
			err = cache.Refuse(o.Path, "the file there must not be changed")
		}
		var refused *cache.RefusedError
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

func (r *restore) look(o *cache.Output) (action, error) {
	if r.missing != "" && strings.HasPrefix(o.Path, r.missing) {
		return replace, nil
	}
	d, name, err := r.work.Parent(o.Path, false)
	if err != nil {
		return replace, r.lookAbove(o, err)
	}
	info, err := d.LstatAt(name)
	if err == nil {
		if action, err := r.differs(d, name, info, o); action != replace || err != nil {
			return action, err
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = d.Writable()
	}
	return replace, r.closed(d, err)
}

// closed handles the error of a directory that does not let this user in. If a run of the task has made the directory,
// which was empty then, it is removed and made again.
func (r *restore) closed(d *Dir, err error) error {
	p := d.path
	if !errors.Is(err, fs.ErrPermission) || p == "" || !r.mayGo(p) {
		return err
	}
	r.block(p)
	r.missing = p + "/"
	if d, err = r.work.At(path.Dir(p), false); err != nil {
		return err
	}
	return d.Writable()
}

// lookAbove finds why the directory of o cannot be opened.
func (r *restore) lookAbove(o *cache.Output, err error) error {
	var blocked *BlockedError
	switch {
	case errors.As(err, &blocked) && !r.mayGo(blocked.Path):
		return cache.Refuse(o.Path, "%s, and no run of the task has made it", blocked)
	case blocked != nil:
		r.block(blocked.Path)
		r.missing = blocked.Path + "/"
	case errors.Is(err, fs.ErrNotExist):
		r.missing = r.work.Missing(path.Dir(o.Path)) + "/"
	default:
		return r.closed(r.work.Deepest(), err)
	}
	return r.work.Deepest().Writable()
}

// mayGo reports whether a path that is in the way may be removed.
func (r *restore) mayGo(p string) bool {
	if r.o.Fixed != nil && r.o.Fixed(p) {
		return false
	}
	return r.stale[p] || r.o.Yields != nil && r.o.Yields(p)
}

// differs compares o with the file at its path.
func (r *restore) differs(d *Dir, name string, info rawfile.Info, o *cache.Output) (action, error) {
	switch {
	case info.IsDir() && o.Kind != cache.Dir:
		return replace, r.clear(o.Path)
	case info.IsDir():
		return mode(info, o), nil
	case info.Mode.Type() != typeOf(o.Kind) && !r.mayGo(o.Path):
		return 0, cache.Refuse(o.Path, "found %s that no run of the task has made", kindOf(info.Mode))
	case o.Kind == cache.Dir:
		r.block(o.Path)
		return replace, nil
	case o.Kind == cache.Link:
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

func typeOf(k cache.Kind) fs.FileMode {
	switch k {
	case cache.Dir:
		return fs.ModeDir
	case cache.Link:
		return fs.ModeSymlink
	}
	return 0
}

// kindOf returns the name of a kind of file that is no directory.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return special(m)
}

func mode(info rawfile.Info, o *cache.Output) action {
	if info.Mode.Perm() != o.Mode {
		return chmod
	}
	return keep
}

// content compares the bytes of a file with those of o.
func (r *restore) content(d *Dir, name string, info rawfile.Info, o *cache.Output) (action, error) {
	if r.o.Current != nil {
		if sum, ok := r.o.Current(o.Path); ok {
			if sum == o.Digest {
				return keep, nil
			}
			return replace, nil
		}
	}
	if r.made != nil {
		var err error
		if o.Digest, err = r.made.sum(r.made.from(o.Path), o.Size); err != nil {
			return 0, err
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
	sum, _, err := r.copier.copy(io.Discard, f, o.Size)
	if err != nil || sum != o.Digest {
		return replace, err
	}
	return verify, nil
}

func (r *restore) block(p string) {
	if !slices.Contains(r.blockers, p) {
		r.blockers = append(r.blockers, p)
	}
}

// clear adds the directory p and all its content to the paths in the way.
func (r *restore) clear(p string) error {
	d, err := r.work.At(p, false)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = d.ReadDir()
	}
	if err != nil && (!errors.Is(err, fs.ErrPermission) || !r.mayGo(p)) {
		return err // a closed directory that a run of the task has left empty goes unseen
	}
	for _, e := range entries {
		below := path.Join(p, e.Name())
		switch {
		case e.IsDir():
			if err := r.clear(below); err != nil {
				return err
			}
		case !r.mayGo(below):
			return cache.Refuse(p, "found a directory with %q, which no run of the task has made", below)
		default:
			r.blockers = append(r.blockers, below)
		}
	}
	r.blockers = append(r.blockers, p)
	return nil
}
