package record

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// Inputs yields the files of the workspace that the command may read, in their present state: its inputs, the
// lockfiles of which its key has a part, the files of linked dishes, discovered inputs, and the outputs of its dependencies. A
// file may come twice. It is safe for concurrent use.
func (x *Execution) Inputs(yield func(key.File) bool) {
	for _, f := range x.Ev.Inputs {
		if !yield(f) {
			return
		}
	}
	lists := [][]tree.Entry{x.Ev.Targets, x.Ev.Lock}
	for _, d := range x.Linked {
		lists = append(lists, x.Tree.Under(d.Path))
	}
	for _, list := range lists {
		for _, e := range list {
			if f, err := x.fileOf(e); err == nil && !yield(f) {
				return
			}
		}
	}
	for _, d := range x.Ev.Discovered {
		e, err := x.Tree.Stat(d.Path)
		if err != nil || d.Use != key.UseContent || e.Kind != tree.File && e.Kind != tree.Link {
			continue
		}
		e.Path = d.Path
		if f, err := x.fileOf(e); err == nil && !yield(f) {
			return
		}
	}
	for _, u := range x.Upstream {
		for _, o := range u.Outputs {
			if o.Kind != cache.Dir && !yield(key.File{Path: o.Path, Exec: key.Executable(o.Mode), Target: o.Target, Sum: o.Digest}) {
				return
			}
		}
	}
}

// fileOf returns the state of a file or link of the workspace.
func (x *Execution) fileOf(e tree.Entry) (f key.File, err error) {
	f = key.File{Path: e.Path, Exec: key.Executable(e.Mode)}
	if e.Kind == tree.Link {
		f.Exec = false
		f.Target, err = x.Tree.Readlink(e)
		return f, err
	}
	sum, err := x.Tree.Index().Sum(e)
	f.Sum = cache.Digest(sum)
	return f, err
}
