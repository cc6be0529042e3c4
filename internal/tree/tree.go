// Package tree reads the workspace from the file system: one walk, and then a sorted snapshot that
// every glob is matched against.
//
// The snapshot contains files, links and special files. It leaves out those that git ignores, unless git tracks them. Of a
// submodule or an inner repository it contains the tracked files. It leaves out linked work trees (git worktree add) inside
// the root. The walk never follows a
// link, and leaves out .git at any depth, bento's own .bento at the root, and its cache.
package tree

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// Options are the settings of Walk. The zero value is valid.
type Options struct {
	// State saves the index between runs. Nil saves nothing.
	State *state.Dir
	// Workers is the number of directories read at a time; 0 is one per core.
	Workers int
	// Out are bento's own directories below the root, with forward slashes: their content is always
	// ignored.
	Out []string
}

// Tree is the snapshot of a workspace. It is safe for concurrent use. Its owner has to close it.
type Tree struct {
	root    string
	workers int
	state   *state.Dir
	outer   *repositoryView
	stop    <-chan struct{} // closed when the caller's context is done
	walked  int64           // when the walk began, in nanoseconds since 1970
	disk    *disk.Root
	refresh chan struct{}  // holds one value: its holder may refresh
	spare   []*disk.Reader // of disk, for Apply
	before  *indexedTree   // the index; nil when it is not valid
	nested  atomic.Bool    // the root contains repositories
	tracked [32]byte       // see TrackedDigest

	ahead  sync.WaitGroup // reads of LookAhead and TrackedAhead
	closed atomic.Bool

	index     *Index
	mu        sync.RWMutex
	top       *dirNode
	problems  []diagnostics.Diagnostic
	named     map[string]named // ignored paths that globs named
	refreshed int              // number of refreshes
}

// Walk reads the workspace at root, an absolute path, once. When ctx is done neither Walk nor later
// calls read anything; they return the error of ctx. Unreadable files are among the Problems; the
// error is about the root itself, or that of ctx.
func Walk(ctx context.Context, root string, o *Options) (*Tree, error) {
	if o == nil {
		o = &Options{}
	}
	t := &Tree{root: filepath.Clean(root), workers: o.Workers, state: o.State, refresh: make(chan struct{}, 1), top: &dirNode{}, stop: ctx.Done()}
	p, err := disk.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	t.disk = p
	if err := t.walk(ctx, o); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// walk fills an empty tree.
func (t *Tree) walk(ctx context.Context, o *Options) error {
	t.walked = time.Now().UnixNano()
	t.index = openIndex(t)
	was := t.index.saved
	if was.Dirs() > 0 {
		t.before = newIndexedTree(was, t.disk)
	}
	t.outer = lookOutside(ctx, repositoryOptions{Root: t.root, State: t.state, Was: was, Out: o.Out, Warn: t.note})
	w := &walker{tree: t, root: t.disk, before: t.before}
	t.top = t.newTop()
	if err := w.walk(ctx, t.top); err != nil {
		return err
	}
	for _, d := range w.problems {
		t.note(d)
	}
	t.tracked = t.outer.Basis.Tracked
	if t.nested.Load() {
		t.tracked = t.digestNested()
	}
	return nil
}

// Close waits for reads that were started ahead, and closes the root. Ignored and Tracked work
// after it; nothing reads a stat any more.
func (t *Tree) Close() {
	if t.closed.Swap(true) {
		return
	}
	t.ahead.Wait()
	t.disk.Close()
}

// newTop returns an empty node for the root.
func (t *Tree) newTop() *dirNode {
	return &dirNode{Was: 1, Ruled: t.outer.Basis == t.index.saved.Basis}
}

// Stop returns a channel that is closed when the ctx of Walk is done.
func (t *Tree) Stop() <-chan struct{} { return t.stop }

// Root returns the absolute path of the workspace.
func (t *Tree) Root() string { return t.root }

// Entries returns all entries, sorted bytewise by path. The caller must not change the list; a
// refresh does not change it.
func (t *Tree) Entries() []Entry { return t.Under("") }

// Under returns the entries below the directory dir, sorted; "" and "." are the root. The caller
// must not change the list.
func (t *Tree) Under(dir string) []Entry {
	dir = clean(dir)
	t.mu.RLock()
	n := t.top.Find(dir)
	flat := n.Flat
	if flat == nil && n.Path == dir {
		n.LookBelow(t.workers)
	}
	t.mu.RUnlock()
	if n.Path != dir {
		return nil
	}
	if flat == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		flat = n.View()
	}
	return flat
}

// Lookup returns the entry at path.
func (t *Tree) Lookup(path string) (Entry, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.lookup(path)
}

// lookup is Lookup for a caller that holds mu.
func (t *Tree) lookup(path string) (Entry, bool) {
	dir := parentPath(path)
	n := t.top.Find(dir)
	if n.Path != dir {
		return Entry{}, false
	}
	return n.File(path)
}

// List is a walked directory, "" for the root.
type List struct {
	Dir string
	// Files yields the path and the kind of the files directly in it, sorted. It reads no stat.
	Files func(yield func(path string, kind Kind) bool)
}

// Lists yields every walked directory, each before its children. The loop holds the tree's lock:
// its body must not call other methods of the tree.
func (t *Tree) Lists(yield func(List) bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lists(t.top, yield)
}

func lists(n *dirNode, yield func(List) bool) bool {
	return yield(List{n.Path, n.Names}) && !slices.ContainsFunc(n.Dirs, func(d *dirNode) bool { return !lists(d, yield) })
}

// Worktrees returns the directories left out as linked work trees of a repository.
func (t *Tree) Worktrees() (dirs []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var add func(n *dirNode)
	add = func(n *dirNode) {
		if n.Linked {
			dirs = append(dirs, n.Path)
		}
		for _, d := range n.Dirs {
			add(d)
		}
	}
	add(t.top)
	return dirs
}

// Dirs returns the walked directories, sorted bytewise, the root as "".
func (t *Tree) Dirs() (dirs []string) {
	for l := range t.Lists {
		dirs = append(dirs, l.Dir)
	}
	slices.Sort(dirs)
	return dirs
}

// Tracked reports whether git tracks the file or link at path, in the repository of the root or one
// inside it.
func (t *Tree) Tracked(path string) bool {
	return t.outer.Tracked().Has(path) || t.inNested(path, (*dirNode).Tracked)
}

// MayTrack is Tracked, but returns true for every path if Unsure does.
func (t *Tree) MayTrack(path string) bool { return t.Tracked(path) || t.Unsure() }

// TracksBelow reports whether git tracks a path at or below path, in the repository of the root or one
// inside it.
func (t *Tree) TracksBelow(path string) bool {
	known := t.outer.Tracked()
	return known.Has(path) || known.HasIn(path) || known.HasLink(path) ||
		t.inNested(path, func(n *dirNode, path string) bool { return n.Tracked(path) || n.TrackedIn(path) || n.TrackedLink(path) })
}

// Unsure reports whether a list of tracked files could not be read, so that git may track files
// unknown to the tree.
func (t *Tree) Unsure() bool { return t.outer.Unsure() }

// InRepository reports whether the root is in a git repository.
func (t *Tree) InRepository() bool { return t.outer.inRepo }

// inNested calls the function with the directory that contains path.
func (t *Tree) inNested(path string, tracks func(*dirNode, string) bool) bool {
	if !t.nested.Load() {
		return false
	}
	t.mu.RLock()
	n := t.top.Find(parentPath(path))
	t.mu.RUnlock()
	return tracks(n, path)
}

// digestNested returns a digest of the tracked files of the root's and all inner repositories.
func (t *Tree) digestNested() [32]byte {
	h := blake3.New()
	h.Write(t.outer.Basis.Tracked[:])
	var add func(n *dirNode)
	add = func(n *dirNode) {
		if n.Tracks != nil {
			sum := n.Tracks().Digest()
			h.Write(append([]byte(n.Path), 0))
			h.Write(sum[:])
		}
		for _, d := range n.Dirs {
			add(d)
		}
	}
	add(t.top)
	return [32]byte(h.Sum(nil))
}

// TrackedAhead starts reading git's index for a caller that will need it. It returns at once; Close
// waits for it.
func (t *Tree) TrackedAhead() { t.ahead.Go(func() { t.outer.Tracked() }) }

// Ignored reports whether path, a directory if dir is set, is outside the snapshot, whether it
// exists or not. A directory with tracked files is not ignored.
func (t *Tree) Ignored(path string, dir bool) bool {
	path = clean(path)
	if glob.Reserved(path) {
		return true
	}
	if !t.ruledOut(path, dir) {
		return false
	}
	known := t.outer.Tracked()
	if known.Has(path) || t.inNested(path, (*dirNode).Tracked) {
		return false
	}
	return !dir || !known.HasIn(path) && !known.HasLink(path) && !t.inNested(path, (*dirNode).TrackedIn) && !t.inNested(path, (*dirNode).TrackedLink)
}

// IgnoresAny reports whether Ignored returns true for one of paths, as a file or as a directory. They are
// clean, and relative to the directory base.
func (t *Tree) IgnoresAny(base string, paths []string) bool {
	base = clean(base)
	var ruled []string // mostly empty
	t.mu.RLock()
	n := t.top.Find(base)
	for _, p := range paths {
		at := base
		if p != "." {
			at = join(base, p)
		}
		if near := n.Find(at); glob.Reserved(at) || t.ruledOutBelow(near, at, false) || t.ruledOutBelow(near, at, true) {
			ruled = append(ruled, at)
		}
	}
	t.mu.RUnlock()
	return slices.ContainsFunc(ruled, func(at string) bool { return t.Ignored(at, false) || t.Ignored(at, true) })
}

// hides reports whether the file path directly in n is ignored.
func (t *Tree) hides(n *dirNode, path string) bool {
	return (n.Only || t.rulesIn(n).Match(path, false) == ignore.Ignored) && !t.outer.Tracked().Has(path) && !n.Tracked(path)
}

// ruledOut reports whether ignore rules match path or a parent, whatever git tracks.
func (t *Tree) ruledOut(path string, dir bool) bool {
	t.mu.RLock()
	n := t.top.Find(path)
	t.mu.RUnlock()
	return t.ruledOutBelow(n, path, dir)
}

// ruledOutBelow is ruledOut for a path whose last walked directory is n.
func (t *Tree) ruledOutBelow(n *dirNode, path string, dir bool) bool {
	if n.Only || n.Path == path {
		return n.Only
	}
	rules := t.rulesIn(n)
	for at := range disk.Ends(path) {
		if at > len(n.Path) && rules.Match(path[:at], dir || at < len(path)) == ignore.Ignored {
			return true
		}
	}
	return false
}

// LookAhead starts reading the stats of all files for a caller that will need most of them. It
// returns at once; Close ends it.
func (t *Tree) LookAhead(ctx context.Context) {
	t.mu.RLock()
	list := t.top.UnseenBelow(nil)
	t.mu.RUnlock()
	t.before.LookAtAll()
	t.ahead.Go(func() {
		// The last ones first: callers read the first ones themselves.
		for i := len(list) - 1; i >= 0 && ctx.Err() == nil && !t.closed.Load(); i-- {
			list[i].Look()
		}
	})
}

// Problems returns the problems of the walk, sorted: unreadable directories and special files as
// errors, which callers report when an input selects them; failures of git as warnings.
func (t *Tree) Problems() []diagnostics.Diagnostic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return diagnostics.Sorted(slices.Clone(t.problems))
}

// clean returns "" for ".".
func clean(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

func (t *Tree) note(d diagnostics.Diagnostic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, d)
}
