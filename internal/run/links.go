package run

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// LinksOut returns an error for each manifest and lockfile of d, in its directory and in
// that of its install scope, on whose path a link leads out of the workspace at root.
// Tools write through such a link. The error is diagnostics.Problems.
func LinksOut(root string, d *dish.Dish) error {
	c := clone.At(root)
	m := d.Adapter.Manifest()
	globs := slices.Concat(m.FingerprintFiles, m.Writes)
	dirs := []string{d.Dir}
	if d.ScopeDir() != d.Dir {
		dirs = append(dirs, d.ScopeDir())
	}
	var found []diagnostics.Diagnostic
	for _, dir := range dirs {
		for _, name := range suspects(c, dir, globs) {
			var stray *clone.StrayError
			if _, err := c.Resolve(filepath.Join(dir, name)); !errors.As(err, &stray) {
				continue
			}
			problem := diagnostics.Pos{File: stray.Link}.Error(clone.RuleLink, "%v: %s would write there", stray, m.DisplayName).
				WithHint("replace the link by a file, or move what it names into the workspace")
			if !slices.ContainsFunc(found, func(d diagnostics.Diagnostic) bool { return d.File == problem.File }) {
				found = append(found, problem)
			}
		}
	}
	return diagnostics.AsError(found)
}

// suspects returns paths below dir: the globs without a wildcard, and of each other glob the
// directory in front of the wildcard and the links in that directory that match.
func suspects(c *clone.Clone, dir string, globs []string) []string {
	var names []string
	for _, glob := range globs {
		glob = path.Clean(glob)
		at := strings.IndexAny(glob, `*?[{\`)
		if at < 0 {
			names = append(names, glob)
			continue
		}
		base := path.Dir(glob[:at] + "x")
		names = append(names, base)
		set, err := tree.CompileSet("", []string{glob})
		if err != nil {
			continue
		}
		entries, err := c.List(filepath.Join(dir, filepath.FromSlash(base)))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if name := path.Join(base, e.Name()); e.Type()&fs.ModeSymlink != 0 && set.Match(name) {
				names = append(names, name)
			}
		}
	}
	return names
}
