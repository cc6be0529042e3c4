package tree

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/crew"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/node"
	"github.com/bentobuild/bento/internal/tree/problem"
)

// RuleSpecial is the rule of the problem that a file is special.
const RuleSpecial = problem.RuleSpecial

// walker reads directories with several workers. What it is given to read is
// independent of each other.
type walker struct {
	tree   *Tree
	root   *disk.Root
	before *node.Before // what the index says; nil when nothing of it counts
	atOnce bool         // no look at a file is put off

	mu       sync.Mutex
	problems []diagnostics.Diagnostic
	readers  []*disk.Reader // of root, that nobody uses
}

// walk reads the directories of start and all below them. A node of start has its
// path and the directory above.
func (w *walker) walk(ctx context.Context, start ...*node.Node) error {
	var used []*disk.Reader
	defer func() { w.readers = append(w.readers, used...) }()
	return crew.Run(ctx, w.tree.workers, start, func() func(*node.Node) []*node.Node {
		v := &visit{walker: w, Reader: w.reader()}
		w.mu.Lock()
		used = append(used, v.Reader)
		w.mu.Unlock()
		return func(n *node.Node) []*node.Node {
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

// visit is the work of one worker.
type visit struct {
	*walker
	*disk.Reader
	paths []byte
	found int // directories in the open one
}

// dir fills n, of which the path and the directory above are known.
func (v *visit) dir(n *node.Node) {
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

// self looks at the directory itself, before its names are read.
func (v *visit) self(n *node.Node) error {
	var e Entry
	n.Looked = time.Now().UnixNano()
	err := v.StatSelf(&e)
	n.Stamp = e.Stamp()
	return err
}

// drop leaves out what is never part of a workspace.
func (v *visit) drop(n *node.Node) {
	n.Tracks = nil
	v.Items = slices.DeleteFunc(v.Items, func(it disk.Item) bool {
		name := v.Name(&it)
		if string(name) == ".git" && n.Path != "" {
			n.Tracks = v.tree.outer.Nested(n.Path)
			v.tree.nested.Store(true)
		}
		return string(name) == ".git" || n.Path == "" && string(name) == state.Name
	})
}

// addRules reads the ignore file of n, if there is one.
func (v *visit) addRules(n *node.Node) {
	there := slices.ContainsFunc(v.Items, func(it disk.Item) bool {
		return it.Kind != Dir && string(v.Name(&it)) == ignore.File
	})
	if !there {
		return
	}
	text, err := v.Read(ignore.File, ignore.MaxFile)
	if err != nil {
		d := problem.Unreadable(join(n.Path, ignore.File), "ignore file", err)
		d.Severity = diagnostics.Warning // more is found than meant, never less
		v.problem(d)
	}
	n.Ignores = node.Ignores{There: true, Read: true, Bad: err != nil, Text: text}
}

// fill makes the entries and directories of n from the sorted names.
func (v *visit) fill(n *node.Node) {
	// One string for all paths of the directory is one allocation.
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
	if rules.Overspent(func(name string) { v.problem(problem.CostlyIgnores(name)) }) {
		n.Flawed = true // so that the next walk says it again
	}
}

func (v *visit) addDir(n *node.Node, rules *ignore.Rules, path string) {
	only := n.Only || rules.Match(path, true) == ignore.Ignored
	if only && (v.tree.outer.Tracked().HasLink(path) || n.TrackedLink(path)) {
		only = false // a submodule is tracked as a whole
	} else if only && !v.tree.outer.Tracked().HasIn(path) && !n.TrackedIn(path) {
		return
	}
	n.Dirs = append(n.Dirs, &node.Node{Path: path, Above: n, Only: only})
}

// keep tells whether a file is part of the workspace.
func (v *visit) keep(n *node.Node, rules *ignore.Rules, path string) bool {
	if n.Only || rules.Match(path, false) == ignore.Ignored {
		return v.tree.outer.Tracked().Has(path) || n.Tracked(path)
	}
	return true
}

func (v *visit) addEntry(n *node.Node, path string, it *disk.Item) {
	n.Entries = append(n.Entries, Entry{Path: path})
	e := &n.Entries[len(n.Entries)-1]
	err := v.Stat(it, e)
	if err != nil || e.Kind == Dir { // a directory since: the next look sees it
		n.Entries = n.Entries[:len(n.Entries)-1]
	}
	switch {
	case err != nil:
		v.unreadable(n, path, "file", err)
	case e.Kind == Special:
		v.problem(problem.Special(path))
	}
}

// unreadable notes a problem in n, unless the thing is simply not there any more.
func (v *visit) unreadable(n *node.Node, path, what string, err error) {
	n.Flawed = true
	if !disk.Gone(err) {
		v.problem(problem.Unreadable(path, what, err))
	}
}

func appendDir(b []byte, dir string) []byte {
	if dir == "" {
		return b
	}
	return append(append(b, dir...), '/')
}

func join(dir, name string) string { return string(append(appendDir(nil, dir), name...)) }
