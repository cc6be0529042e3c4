package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/bentobuild/bento/internal/key"
)

// StuckError is a file of the last run that cannot be removed: the command would take it for its own.
type StuckError struct {
	Path  string // relative to the workspace
	Owner int    // of the directory around it if that is another user; -1 for none
	Err   error
}

func (e *StuckError) Error() string {
	var cause *fs.PathError
	err := e.Err
	if errors.As(err, &cause) {
		err = cause.Err
	}
	text := fmt.Sprintf("%q, which its last run has made, cannot be removed: %v; ", e.Path, err)
	if e.Owner >= 0 {
		return text + fmt.Sprintf("its directory belongs to the user with the id %d: remove it as that user, or give it to yourself with chown", e.Owner)
	}
	return text + "remove it, or give yourself the right to (chmod u+w of the directory around it)"
}

func (e *StuckError) Unwrap() error { return e.Err }

// mayUnlock reports whether a directory around an output belongs to the task: an output covers it, or it is below the
// dish and git tracks nothing in it.
func (x *Execution) mayUnlock(dir string) bool {
	dish := x.Ev.Task.Dish.Path
	if x.set.Match(dir) || dir == dish || dish != "." && !key.Inside(dir, dish) {
		return x.set.Match(dir)
	}
	entries, err := os.ReadDir(filepath.Join(x.Root, filepath.FromSlash(dir)))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return x.Tree.MayTrack(path.Join(dir, e.Name())) })
}

// stuck returns the error of a file below root that cannot be removed because of err. A directory may stay: it is
// empty, and perhaps a place that somebody has prepared for the task.
func stuck(root, p string, err error) error {
	e, name := &StuckError{Path: p, Owner: -1, Err: err}, filepath.Join(root, filepath.FromSlash(p))
	if info, serr := os.Lstat(name); serr == nil && info.IsDir() {
		return nil
	}
	if info, serr := os.Lstat(filepath.Dir(name)); serr == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 {
			e.Owner = int(st.Uid)
		}
	}
	return e
}
