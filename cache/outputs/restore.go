package outputs

import (
	"cmp"
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
	"github.com/bentobuild/bento/cache/workdir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Options say how to restore.
type Options struct {
	// Stale lists what an earlier run of the same task has made. What of it is not
	// wanted is removed; a directory only when it is empty.
	Stale []string
	// Yields tells what else may be removed that is in the way: a file where a
	// directory has to be, or one that lies in a directory where a file has to be. Nil:
	// nothing.
	Yields func(path string) bool
	// Stop ends the restore with context.Canceled once it is closed, before anything is
	// put in place. Nil never is.
	Stop <-chan struct{}
	// Fixed tells what is never changed. Nil: nothing.
	Fixed func(path string) bool
	// Current gives the digest of a file in the workspace when that is known without
	// reading it. Nil, or false: the file is read.
	Current func(path string) (cache.Digest, bool)
	// Restored, when not nil, is called at the end with each file that was written,
	// changed or read.
	Restored func(path string, d cache.Digest)
	// StageDir is where files are made before they are moved into place, best on the
	// file system of the workspace. It is made when missing. "": the workspace itself.
	// A Restorer has its own.
	StageDir string
}

// Stats counts what Restore did.
type Stats struct {
	Written int   // files, links and directories that were made or replaced
	Kept    int   // that were right already, up to their mode
	Removed int   // stale ones
	Bytes   int64 // of the files written
}

// Restore makes the workspace at root, an absolute path, hold exactly the outputs
// want, which are sorted by path. What is right already is not touched. Everything
// else is first fetched from s and verified; only then is anything moved into
// place, each file in one step: with an error from s nothing has changed, and
// whoever looks meanwhile sees old files or new ones, all whole. When a blob is
// damaged or gone, the others are verified all the same: what makes them again
// then makes all that are missing.
//
// Nothing is written through a link, into a .git or out of the workspace, and nothing
// is removed but what is stale, what yields, and what is in the very place of a wanted
// file: all else is a *cache.RefusedError, before anything has changed.
func Restore(s cache.Store, root string, want []cache.Output, o Options) (Stats, error) {
	r := NewRestorer(root, func() (*rawfile.File, error) { return openStage(cmp.Or(o.StageDir, root)) })
	defer r.Close()
	return r.Restore(s, want, o)
}

// Restorer restores results into one workspace. It is safe for concurrent use, for
// results that have no path in common.
type Restorer struct {
	root  string
	stage func() (*rawfile.File, error)

	mu   sync.Mutex
	idle []*hands
}

// openStage opens the directory that Options names.
func openStage(path string) (*rawfile.File, error) {
	f, err := rawfile.OpenDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = rawfile.MkdirAll(path, 0o777); err == nil {
			f, err = rawfile.OpenDir(path)
		}
	}
	return f, err
}

// NewRestorer returns a Restorer into the workspace at root, an absolute path, which
// stages in the directory that stage opens for it; see Options. stage is first called
// when there is something to stage, perhaps more than once and concurrently.
func NewRestorer(root string, stage func() (*rawfile.File, error)) *Restorer {
	return &Restorer{root: root, stage: stage}
}

// Close closes what is kept open between calls of Restore.
func (r *Restorer) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.idle {
		h.close()
	}
	r.idle = nil
}

// Restore does what the function Restore does.
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

// hands are what one restore at a time works with.
type hands struct {
	work     *workdir.Root
	stageDir func() (*rawfile.File, error)
	stage    *workdir.Stage // nil until something was staged
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
	w, err := workdir.Open(r.root)
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

// staging gives the stage.
func (h *hands) staging() (_ *workdir.Stage, err error) {
	if h.stage != nil {
		return h.stage, nil
	}
	dir, err := h.stageDir()
	if err == nil {
		h.stage = workdir.NewStage(dir)
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

// restore is one call of Restore.
type restore struct {
	*hands
	store cache.Store
	o     *Options
	want  []cache.Output
	stale map[string]bool
	stats Stats

	steps    []step
	blockers []string // in the way of a wanted path; what lies in a directory first
	missing  string   // the directory last found to be missing, or in the way, with "/"
}

// step is what one output needs.
type step struct {
	out    *cache.Output
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
		if stopped(r.o.Stop) {
			return context.Canceled
		}
		o := &r.want[i]
		action, err := r.look(o)
		if err == nil && (action == chmod || action == replace) && r.o.Fixed != nil && r.o.Fixed(o.Path) {
			err = cache.Refuse(o.Path, "what is there is not to be changed")
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

// lookAbove looks at what keeps the directory of o from being opened.
func (r *restore) lookAbove(o *cache.Output, err error) error {
	var blocked *workdir.BlockedError
	switch {
	case errors.As(err, &blocked) && !r.mayGo(blocked.Path):
		return cache.Refuse(o.Path, "%s", blocked)
	case blocked != nil:
		r.block(blocked.Path)
		r.missing = blocked.Path + "/"
	case errors.Is(err, fs.ErrNotExist):
		r.missing = r.work.Missing(path.Dir(o.Path)) + "/"
	default:
		return err
	}
	return r.work.Deepest().Writable()
}

// mayGo tells whether what is in the way may be removed.
func (r *restore) mayGo(p string) bool {
	if r.o.Fixed != nil && r.o.Fixed(p) {
		return false
	}
	return r.stale[p] || r.o.Yields != nil && r.o.Yields(p)
}

// differs compares what is at the place of o with it.
func (r *restore) differs(d *workdir.Dir, name string, info rawfile.Info, o *cache.Output) (action, error) {
	switch {
	case info.IsDir() && o.Kind != cache.Dir:
		return replace, r.clear(o.Path)
	case info.IsDir():
		return mode(info, o), nil
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

func mode(info rawfile.Info, o *cache.Output) action {
	if info.Mode.Perm() != o.Mode {
		return chmod
	}
	return keep
}

// content compares the bytes of a file with those of o.
func (r *restore) content(d *workdir.Dir, name string, info rawfile.Info, o *cache.Output) (action, error) {
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

// clear lists all that is in the directory at p, and it, as in the way.
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
		case !r.mayGo(below):
			return cache.Refuse(p, "a directory is there, with %q that no run of the task has made", below)
		default:
			r.blockers = append(r.blockers, below)
		}
	}
	r.blockers = append(r.blockers, p)
	return nil
}
