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
func NewView(files *tree.Tree, c *clone.Clone) *View { return &View{files, c} }

// Kind implements adapters.View.
func (v *View) Kind(path string) (k adapters.Kind, known bool) {
	rel, inside := relative(v.files.Root(), path)
	if !inside {
		return 0, false
	}
	if e, ok := v.files.Lookup(rel); ok && rel != "" {
		return adapters.Regular, e.Kind == tree.File
	}
	_, ok := v.files.Stamp(rel)
	return adapters.Directory, ok
}

// Sum implements adapters.View. The index also knows files that git ignores, or behind links.
func (v *View) Sum(path string) (sum [32]byte, known bool) {
	rel, inside := relative(v.files.Root(), path)
	if !inside {
		return sum, false
	}
	e, ok := v.files.Lookup(rel)
	if !ok || e.Kind != tree.File {
		if v.clone != nil {
			real, err := v.clone.Resolve(rel)
			if err != nil {
				return sum, false
			}
			rel = filepath.ToSlash(real)
		}
		var err error
		if e, err = tree.Stat(v.files.Root(), rel); err != nil || e.Kind != tree.File {
			return sum, false
		}
	}
	sum, err := v.files.Index().Sum(e)
	return sum, err == nil
}
