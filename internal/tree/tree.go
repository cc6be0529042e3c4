// Package tree is the workspace as the file system has it: one walk, and then a
// sorted snapshot that every glob is matched against.
//
// Of the snapshot are files, links and special files that git does not ignore,
// and those that git tracks even if it would; of a submodule, and of another repository
// inside, what its own git tracks. It never follows a link, and leaves
// out .git at any depth and bento's own .bento at the root.
package tree

import (
	"context"
	"path/filepath"
	"runtime"
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
	"github.com/bentobuild/bento/internal/tree/node"
	"github.com/bentobuild/bento/internal/tree/outer"
)

// Options of Walk. The zero value is good.
type Options struct {
	// State keeps the index between runs. Nil keeps nothing.
	State *state.Dir
	// Workers is how many directories are read at a time; 0 means one a core.
	Workers int
}

// Tree is the snapshot of a workspace. It is safe for concurrent use.
type Tree struct {
	root    string
	workers int
	state   *state.Dir
	outer   *outer.View
	stop    <-chan struct{} // closed when nobody waits for the tree any more
	walked  int64           // when the walk began, in nanoseconds since 1970
	disk    *disk.Root
	refresh chan struct{}  // holds one value: who has it may refresh
	spare   []*disk.Reader // of disk, for who refreshes
	before  *node.Before   // what the index says; nil when nothing of it counts
	nested  atomic.Bool    // there are repositories inside the root
	tracked [32]byte       // see TrackedDigest

	index     *Index
	mu        sync.RWMutex
	top       *node.Node
	problems  []diagnostics.Diagnostic
	named     map[string]named // ignored paths that globs named
	refreshed int              // how often the tree was
}

// Walk reads the workspace at root, an absolute path, once. When ctx is done nothing is
// read any more, by what the tree is asked later either: the error is then that of ctx. What cannot be read is
// among the Problems; the error is about the root itself, or that of ctx.
func Walk(ctx context.Context, root string, o *Options) (*Tree, error) {
	if o == nil {
		o = &Options{}
	}
	t := &Tree{root: filepath.Clean(root), workers: o.Workers, state: o.State, refresh: make(chan struct{}, 1), top: &node.Node{}, stop: ctx.Done()}
	p, err := disk.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(t, (*disk.Root).Close, p)
	t.disk = p
	t.walked = time.Now().UnixNano()
	t.index = openIndex(t)
	was := t.index.saved
	if was.Dirs() > 0 {
		t.before = node.NewBefore(was, p)
	}
	t.outer = outer.Look(ctx, outer.Options{Root: t.root, State: t.state, Was: was, Warn: t.note})
	w := &walker{tree: t, root: p, before: t.before}
	t.top = t.newTop()
	if err := w.walk(ctx, t.top); err != nil {
		return nil, err
	}
	for _, d := range w.problems {
		t.note(d)
	}
	t.tracked = t.outer.Basis.Tracked
	if t.nested.Load() {
		t.tracked = t.digestNested()
	}
	return t, nil
}

// newTop gives an empty node for the root.
func (t *Tree) newTop() *node.Node {
	return &node.Node{Was: 1, Ruled: t.outer.Basis == t.index.saved.Basis}
}

// Stop is closed when the ctx that the tree was walked with is done.
func (t *Tree) Stop() <-chan struct{} { return t.stop }

// Root gives the absolute path of the workspace.
func (t *Tree) Root() string { return t.root }

// Entries gives everything, sorted bytewise by path. The list is not to be
// changed; it stays as it is when the tree is refreshed.
func (t *Tree) Entries() []Entry { return t.Under("") }

// Under gives the entries below the directory dir, sorted; "" and "." are the
// root. The list is not to be changed.
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

// Lookup gives the entry at path.
func (t *Tree) Lookup(path string) (Entry, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.lookup(path)
}

// lookup is Lookup for who holds mu.
func (t *Tree) lookup(path string) (Entry, bool) {
	dir := node.Parent(path)
	n := t.top.Find(dir)
	if n.Path != dir {
		return Entry{}, false
	}
	return n.File(path)
}

// List is a directory that was walked, "" for the root.
type List struct {
	Dir string
	// Files yields the path and the kind of what is right in it, sorted. It looks at
	// nothing.
	Files func(yield func(path string, kind Kind) bool)
}

// Lists yields every directory that was walked, each before those in it. Meanwhile the
// tree is held: whoever is in the loop must not ask it anything else.
func (t *Tree) Lists(yield func(List) bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lists(t.top, yield)
}

func lists(n *node.Node, yield func(List) bool) bool {
	return yield(List{n.Path, n.Names}) && !slices.ContainsFunc(n.Dirs, func(d *node.Node) bool { return !lists(d, yield) })
}

// Dirs gives the directories that were walked, sorted bytewise, the root as "".
func (t *Tree) Dirs() (dirs []string) {
	for l := range t.Lists {
		dirs = append(dirs, l.Dir)
	}
	slices.Sort(dirs)
	return dirs
}

// Tracked reports whether git tracks the file or link at path: the repository of the
// root, or one inside it that path lies in.
func (t *Tree) Tracked(path string) bool {
	return t.outer.Tracked().Has(path) || t.inNested(path, (*node.Node).Tracked)
}

// MayTrack is Tracked, and true for every path while Unsure is.
func (t *Tree) MayTrack(path string) bool { return t.Tracked(path) || t.Unsure() }

// Unsure reports whether git tracks files that the tree does not know of, because a
// list of tracked files could not be read.
func (t *Tree) Unsure() bool { return t.outer.Unsure() }

// inNested asks about path the directory that holds it.
func (t *Tree) inNested(path string, tracks func(*node.Node, string) bool) bool {
	if !t.nested.Load() {
		return false
	}
	t.mu.RLock()
	n := t.top.Find(node.Parent(path))
	t.mu.RUnlock()
	return tracks(n, path)
}

// digestNested returns a digest of what git tracks here and in repositories inside.
func (t *Tree) digestNested() [32]byte {
	h := blake3.New()
	h.Write(t.outer.Basis.Tracked[:])
	var add func(n *node.Node)
	add = func(n *node.Node) {
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

// TrackedAhead begins to read git's list, for who is going to ask what git tracks. It
// returns at once.
func (t *Tree) TrackedAhead() { go t.outer.Tracked() }

// Ignored tells whether path, a directory if dir is set, is no part of the
// workspace, whether it exists or not. A directory that holds tracked files is
// not ignored.
func (t *Tree) Ignored(path string, dir bool) bool {
	path = clean(path)
	if glob.Reserved(path) {
		return true
	}
	if !t.ruledOut(path, dir) {
		return false
	}
	known := t.outer.Tracked()
	if known.Has(path) || t.inNested(path, (*node.Node).Tracked) {
		return false
	}
	return !dir || !known.HasIn(path) && !known.HasLink(path) && !t.inNested(path, (*node.Node).TrackedIn) && !t.inNested(path, (*node.Node).TrackedLink)
}

// hides tells whether the file path right in n is ignored.
func (t *Tree) hides(n *node.Node, path string) bool {
	return (n.Only || t.rulesIn(n).Match(path, false) == ignore.Ignored) && !t.outer.Tracked().Has(path) && !n.Tracked(path)
}

// ruledOut tells whether ignore rules match path or a directory above, whatever
// is tracked.
func (t *Tree) ruledOut(path string, dir bool) bool {
	t.mu.RLock()
	n := t.top.Find(path)
	t.mu.RUnlock()
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

// LookAhead begins to look at all files, for who is going to ask about most of them.
// It returns at once.
func (t *Tree) LookAhead(ctx context.Context) {
	t.mu.RLock()
	list := t.top.UnseenBelow(nil)
	t.mu.RUnlock()
	t.before.LookAtAll()
	go func() {
		defer runtime.KeepAlive(t) // and with it what it has open
		// The last one first: others ask for the first one first.
		for i := len(list) - 1; i >= 0 && ctx.Err() == nil; i-- {
			list[i].Look()
		}
	}()
}

// Problems gives what the walk found wrong, sorted: directories that cannot be
// read and special files with severity error, to be reported when an input
// selects them; and what could not be asked of git as warnings.
func (t *Tree) Problems() []diagnostics.Diagnostic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return diagnostics.Sorted(slices.Clone(t.problems))
}

// clean makes "" of ".".
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
