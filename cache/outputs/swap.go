package outputs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
)

// swapAll moves everything into place.
func (r *restore) swapAll() error {
	for _, p := range r.blockers {
		if _, err := r.work.Remove(p); err != nil {
			return err
		}
	}
	for i := range r.steps {
		if err := r.swap(&r.steps[i]); err != nil {
			return fmt.Errorf("output %q: %w", r.steps[i].out.Path, err)
		}
	}
	if err := cmp.Or(r.removeStale(), r.chmodDirs()); err != nil {
		return err
	}
	for i := range r.steps {
		if o := r.steps[i].out; r.o.Restored != nil && o.Kind == cache.File {
			r.o.Restored(o.Path, o.Digest)
		}
	}
	return nil
}

func (r *restore) swap(s *step) error {
	d, name, err := r.work.Parent(s.out.Path, true)
	if err != nil {
		return err
	}
	switch {
	case s.action == verify:
		return nil
	case s.action == chmod && s.out.Kind == cache.Dir:
		return nil // chmodDirs sets the mode
	case s.action == chmod:
		return chmodFile(d, name, s.out)
	case s.out.Kind == cache.Dir:
		err = d.MkdirAt(name, 0o777)
		if errors.Is(err, fs.ErrExist) {
			err = nil // an output below it was made first
		}
	case r.made != nil && r.made.moves:
		err = r.made.moveFile(s.out.Path, d, name)
	default:
		err = r.stage.Move(s.staged, d, name)
	}
	if err == nil {
		r.stats.Written++
		r.stats.Bytes += s.out.Size
	}
	return err
}

// removeStale removes stale paths that are not wanted, and the directories above them that are
// empty then.
func (r *restore) removeStale() error {
	gone := make(map[string]bool, len(r.stale)) // path → is a directory
	for p := range r.stale {
		gone[p] = false
		for p = path.Dir(p); p != "."; p = path.Dir(p) {
			if _, ok := gone[p]; !ok {
				gone[p] = !r.stale[p]
			}
		}
	}
	for i := range r.want {
		delete(gone, r.want[i].Path)
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(gone))) {
		remove := r.work.Remove
		if gone[p] {
			remove = r.work.RemoveDir
		}
		removed, err := remove(p)
		if errors.Is(err, fs.ErrPermission) && r.belowWanted(p) {
			continue // the directory is as the task has left it: empty, and closed to this user
		}
		if err != nil {
			return fmt.Errorf("stale output %q: %w", p, err)
		}
		if removed && r.stale[p] {
			r.stats.Removed++
		}
	}
	return nil
}

// belowWanted reports whether p is below a directory that is itself an output.
func (r *restore) belowWanted(p string) bool {
	return slices.ContainsFunc(r.want, func(o cache.Output) bool {
		return o.Kind == cache.Dir && strings.HasPrefix(p, o.Path+"/")
	})
}

// chmodFile sets the mode of an otherwise correct file.
func chmodFile(d *Dir, name string, o *cache.Output) error {
	info, err := d.LstatAt(name)
	if err != nil {
		return err
	}
	f, err := d.ReadFile(name, info)
	if err != nil {
		return d.ChmodAt(name, o.Mode) // the file has no read permission, or has none yet
	}
	defer f.Close()
	return f.Chmod(o.Mode)
}

// chmodDirs sets the modes of directories last: a read-only directory cannot be filled.
func (r *restore) chmodDirs() error {
	for _, s := range slices.Backward(r.steps) {
		if s.out.Kind != cache.Dir {
			continue
		}
		d, err := r.work.At(s.out.Path, false)
		if err == nil {
			err = d.Chmod(s.out.Mode)
		}
		if err != nil {
			return fmt.Errorf("output %q: %w", s.out.Path, err)
		}
	}
	return nil
}

// Leftovers returns the paths of files that a killed restore may have left beside the outputs: copies from
// a stage on another file system.
func Leftovers(root string, outputs []string) (paths []string) {
	seen := make(map[string]bool)
	for _, p := range outputs {
		dir := path.Dir(p)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, _ := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		for _, e := range entries {
			if !e.IsDir() && IsTemp(e.Name()) {
				paths = append(paths, path.Join(dir, e.Name()))
			}
		}
	}
	return paths
}

// Remove removes the file, link or empty directory at p in the workspace at root. It keeps a directory
// with content. It returns no error if p is missing or behind a link.
func Remove(root, p string) error { return remove(root, p, (*Root).Remove) }

// RemoveDir is Remove for an empty directory only.
func RemoveDir(root, p string) error { return remove(root, p, (*Root).RemoveDir) }

func remove(root, p string, with func(*Root, string) (bool, error)) error {
	if err := cache.CheckPlace(p); err != nil {
		return err
	}
	w, err := Open(root)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = with(w, p)
	return err
}

// Touch sets the times of the files at paths in the workspace at root. It follows no link. It continues
// after an error, and returns the last one with its path.
func Touch(root string, paths []string, at time.Time) (failed string, err error) {
	w, err := Open(root)
	if err != nil {
		return "", err
	}
	defer w.Close()
	for _, p := range paths {
		d, name, e := w.Parent(p, false)
		if e == nil {
			e = d.TouchAt(name, at)
		}
		if e != nil {
			failed, err = p, e
		}
	}
	return failed, err
}
