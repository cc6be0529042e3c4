package tree

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// walker reads directories with several workers. The directories are independent of each other.
type walker struct {
	tree   *Tree
	root   *disk.Root
	before *indexedTree // the index; nil when it is not valid
	atOnce bool         // read all stats at once

	mu       sync.Mutex
	problems []diagnostics.Diagnostic
	readers  []*disk.Reader // unused readers of root
}

// walk reads the directories of start and everything below. A node of start has its path and its
// parent.
func (w *walker) walk(ctx context.Context, start ...*dirNode) error {
	var used []*disk.Reader
	defer func() { w.readers = append(w.readers, used...) }()
	return parallel.Run(ctx, w.tree.workers, start, func() func(*dirNode) []*dirNode {
		v := &visit{walker: w, Reader: w.reader()}
		w.mu.Lock()
		used = append(used, v.Reader)
		w.mu.Unlock()
		return func(n *dirNode) []*dirNode {
			v.dir(n)
			return n.Dirs
		}
	})
}

func (w *walker) reader() *disk.Reader {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.readers)
	if n == 0 {
		return w.root.Reader()
	}
	r := w.readers[n-1]
	w.readers = w.readers[:n-1]
	return r
}

func (w *walker) problem(d diagnostics.Diagnostic) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, d)
}

// visit is the state of one worker.
type visit struct {
	*walker
	*disk.Reader
	paths []byte
	found int // number of directories found in the open one
}

// dir fills n, which has its path and its parent.
func (v *visit) dir(n *dirNode) {
	if v.asBefore(n) {
		if v.atOnce {
			n.Look()
		}
		return
	}
	if err := v.Open(n.Path, 0); err != nil {
		n.Missing = disk.Gone(err)
		v.unreadable(n, n.Path, "directory", err)
		return
	}
	defer v.Close()
	if err := v.self(n); err != nil {
		v.unreadable(n, n.Path, "directory", err)
		return
	}
	n.Listed = true
	if err := v.List(); err != nil {
		v.unreadable(n, n.Path, "directory", err)
		return
	}
	v.drop(n)
	v.Sort()
	if !n.Only {
		v.addRules(n)
	}
	v.fill(n)
	v.match(n)
}

// self reads the stat of the directory before its names.
func (v *visit) self(n *dirNode) error {
	var e Entry
	n.Looked = time.Now().UnixNano()
	err := v.StatSelf(&e)
	n.Stamp = e.Stamp()
	return err
}

// drop removes names that are never part of a workspace.
func (v *visit) drop(n *dirNode) {
	n.Tracks = nil
	v.Items = slices.DeleteFunc(v.Items, func(it disk.Item) bool {
		name := v.Name(&it)
		if string(name) == ".git" && n.Path != "" {
			v.repository(n, it.Kind)
		}
		return string(name) == ".git" || n.Path == "" && string(name) == state.Name
	})
}

// repository records that a repository's work tree starts at n, whose .git is of the given kind. A
// linked one is another checkout, mostly of the same dishes, and is left out.
func (v *visit) repository(n *dirNode, kind disk.Kind) {
	if n.Linked = kind == disk.File && v.tree.outer.Linked(n.Path); n.Linked {
		n.Only = true
		return
	}
	n.Tracks = v.tree.outer.Nested(n.Path)
	v.tree.nested.Store(true)
}

// addRules reads the ignore file of n, if it has one.
func (v *visit) addRules(n *dirNode) {
	there := slices.ContainsFunc(v.Items, func(it disk.Item) bool {
		return it.Kind != Dir && string(v.Name(&it)) == ignore.File
	})
	if !there {
		return
	}
	text, err := v.Read(ignore.File, ignore.MaxFile)
	if err != nil {
		d := unreadable(join(n.Path, ignore.File), "ignore file", err)
		d.Severity = diagnostics.Warning // too few files are ignored, never too many
		v.problem(d)
	}
	n.Ignores = nodeIgnores{There: true, Read: true, Bad: err != nil, Text: text}
}

// fill sets the entries and directories of n from the sorted names.
func (v *visit) fill(n *dirNode) {
	// One string for all paths of the directory costs one allocation.
	v.paths, v.found = v.paths[:0], 0
	for i := range v.Items {
		it := &v.Items[i]
		v.paths = append(appendDir(v.paths, n.Path), v.Name(it)...)
		if it.Kind == Dir {
			v.found++
		}
	}
	paths, skip, rules := string(v.paths), len(appendDir(nil, n.Path)), v.tree.rulesIn(n)
	n.Entries = make([]Entry, 0, len(v.Items)-v.found)
	for i := range v.Items {
		it := &v.Items[i]
		path := paths[:skip+len(v.Name(it))]
		paths = paths[len(path):]
		if it.Kind == Dir {
			v.addDir(n, rules, path)
		} else if v.keep(n, rules, path) {
			v.addEntry(n, path, it)
		}
	}
	n.Whole = len(n.Entries)+len(n.Dirs) == len(v.Items)
	if rules.Overspent(func(name string) { v.problem(costlyIgnores(name)) }) {
		n.Flawed = true // so that the next walk reports it again
	}
}

func (v *visit) addDir(n *dirNode, rules *ignore.Rules, path string) {
	only := n.Only || rules.Match(path, true) == ignore.Ignored
	if only && v.isLink(n, path) {
		only = false
	} else if only && !v.tree.outer.Tracked().HasIn(path) && !n.TrackedIn(path) {
		return
	}
	n.Dirs = append(n.Dirs, &dirNode{Path: path, Above: n, Only: only})
}

// isLink reports whether a directory in n is a submodule, which is tracked as a whole.
func (v *visit) isLink(n *dirNode, path string) bool {
	return v.tree.outer.Tracked().HasLink(path) || n.TrackedLink(path)
}

// keep reports whether a file is part of the workspace.
func (v *visit) keep(n *dirNode, rules *ignore.Rules, path string) bool {
	if n.Only || rules.Match(path, false) == ignore.Ignored {
		return v.tree.outer.Tracked().Has(path) || n.Tracked(path)
	}
	return true
}

func (v *visit) addEntry(n *dirNode, path string, it *disk.Item) {
	n.Entries = append(n.Entries, Entry{Path: path})
	e := &n.Entries[len(n.Entries)-1]
	err := v.Stat(it, e)
	if err != nil || e.Kind == Dir { // it has become a directory, which the next walk finds
		n.Entries = n.Entries[:len(n.Entries)-1]
	}
	if err != nil {
		v.unreadable(n, path, "file", err)
	}
}

// unreadable adds a problem in n, unless the file was removed meanwhile.
func (v *visit) unreadable(n *dirNode, path, what string, err error) {
	n.Flawed = true
	if !disk.Gone(err) {
		v.problem(unreadable(path, what, err))
	}
}

func appendDir(b []byte, dir string) []byte {
	if dir == "" {
		return b
	}
	return append(append(b, dir...), '/')
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
