package record

import (
	"io/fs"
	"path"
	"runtime"

	"github.com/bentobuild/bento/internal/tree"
)

// usual reports whether a directory has the mode of a usual umask: a restore makes it with the umask
// of the restoring user.
func usual(m fs.FileMode) bool { return m == 0o755 || m == 0o775 }

// ownDirs returns the directories that the command has made for paths and given a mode of
// their own. They belong to the outputs as empty ones do. One that held something before is
// not the command's.
func (x *Execution) ownDirs(paths []string) (list []string) {
	if runtime.GOOS == "windows" {
		return nil // there directories have no modes
	}
	seen := make(map[string]bool)
	dish := x.Ev.Task.Dish.Path
	mark := func(p string, each func(dir string)) {
		for dir := path.Dir(p); dir != "." && dir != dish && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			each(dir)
		}
	}
	for p := range x.before {
		mark(p, func(string) {})
	}
	for _, p := range paths {
		mark(p, func(dir string) {
			if e, err := x.Tree.Stat(dir); err == nil && e.Kind == tree.Dir && !usual(e.Mode) && x.set.Match(dir) {
				list = append(list, dir)
			}
		})
	}
	return list
}
