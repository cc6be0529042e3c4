package answers

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/tree"
)

// View is a tree as adapters see it: kinds from the walk, digests from the index.
type View struct {
	files *tree.Tree
	clone *clone.Clone
}

// NewView returns the view of a tree, and of the clone at the same root.
func NewView(files *tree.Tree, c *clone.Clone) *View { return &View{files: files, clone: c} }

// State implements snapshot.View. It has no list of a directory: the walk leaves out names.
func (v *View) State(path string, whole bool) (s adapters.State, known bool) {
	rel, inside := relative(v.files.Root(), path)
	if !inside {
		return s, false
	}
	e, ok := v.files.Look(rel)
	switch {
	case ok && e.Kind == tree.File && whole:
		return v.sum(e)
	case e.Kind == tree.File || e.Kind == tree.Link || e.Kind == tree.Special:
		return adapters.State{Kind: adapters.Regular}, e.Kind == tree.File
	case whole:
		return v.behind(rel)
	case e.Kind == tree.Dir:
		return adapters.State{Kind: adapters.Directory}, true
	}
	return adapters.State{Kind: adapters.Absent}, ok
}

// Now implements snapshot.View.
func (v *View) Now(path string) (s adapters.State, known bool) {
	rel, inside := relative(v.files.Root(), path)
	if !inside {
		return s, false
	}
	return v.behind(rel)
}

// Ignored implements snapshot.View.
func (v *View) Ignored(path string, dir bool) bool {
	rel, inside := relative(v.files.Root(), path)
	return inside && v.files.Ignored(rel, dir)
}

// behind returns the state of a file that is no entry of the tree, because git ignores it or it is behind
// a link. The index knows it too.
func (v *View) behind(rel string) (s adapters.State, known bool) {
	if v.clone != nil {
		real, err := v.clone.Resolve(rel)
		if err != nil {
			return s, false
		}
		rel = filepath.ToSlash(real)
	}
	e, err := tree.Stat(v.files.Root(), rel)
	if err != nil || e.Kind != tree.File {
		return s, false
	}
	return v.sum(e)
}

func (v *View) sum(e tree.Entry) (adapters.State, bool) {
	sum, err := v.files.Index().Sum(e)
	return adapters.State{Kind: adapters.Regular, Sum: sum}, err == nil
}
