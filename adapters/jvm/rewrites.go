package jvm

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// Below returns globs, anchored at the workspace of f, that match paths at any depth below root, as the
// globs in below do: what one run for a project of a build makes again for its neighbours. It returns none
// for a root outside of the workspace, or whose name means something in a glob.
func Below(f *snapshot.Files, root string, below ...string) (globs []string) {
	top := f.Dir()
	for dir := range f.Ancestors() {
		top = dir
	}
	at, err := filepath.Rel(top, root)
	if err != nil || !filepath.IsLocal(at) || strings.ContainsAny(at, `\*?[{`) {
		return nil
	}
	for _, g := range below {
		globs = append(globs, "//"+path.Join(filepath.ToSlash(at), "**", g))
	}
	return globs
}
