package record

import (
	"io/fs"
	"path"
	"runtime"

	"github.com/bentobuild/bento/internal/tree"
)

// usual reports whether a directory has a mode that a usual umask yields: a restore makes such a
// directory with the umask of the restoring user.
func usual(m fs.FileMode) bool { return m == 0o755 || m == 0o775 }

// ownDirs returns the directories that the command has made for paths with an unusual mode. They are
// outputs, like empty directories. A directory that had files before the command is not among them.
func (x *Execution) ownDirs(paths []string) (list []string) {
	if runtime.GOOS == "windows" {
		return nil // directories have no modes on Windows
	}
	seen := make(map[string]bool)
	dish := x.Ev.Task.Dish.Path
	mark := func(p string, each func(dir string)) {
		for dir := path.Dir(p); dir != "." && dir != dish && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			each(dir)
		}
	}
	for p := range x.before.outputs {
		mark(p, func(string) {})
	}
	for _, p := range paths {
		mark(p, func(dir string) {
			if e, err := x.Tree.Stat(dir); err == nil && e.Kind == tree.Dir && !usual(e.Mode) && (x.set.Match(dir) || x.area.Has(dir)) {
				list = append(list, dir)
			}
		})
	}
	return list
}
