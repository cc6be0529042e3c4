package outputs

import (
	"errors"
	"io/fs"
	"path"

	"github.com/bentobuild/bento/cache"
)

// unlocked are the rights of the owner of a directory without which its entries cannot be replaced.
const unlocked = 0o700

// Unlock sets all rights of the owner on the directories around p, outermost first, that are outputs as is
// reports, so that p can be removed. Some tools make their directories read-only, such as the module cache of
// Go. It reports whether it has changed the mode of one. It follows no link, and stops at an error.
func Unlock(root, p string, is func(dir string) bool) (changed bool) {
	if cache.CheckPlace(p) != nil {
		return false
	}
	w, err := Open(root)
	if err != nil {
		return false
	}
	defer w.Close()
	var dirs []string
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if is(dir) {
			dirs = append(dirs, dir)
		}
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		more, err := w.unlock(dirs[i])
		if changed = changed || more; err != nil {
			return changed
		}
	}
	return changed
}

func (w *Root) unlock(dir string) (changed bool, err error) {
	d, name, err := w.Parent(dir, false)
	if err != nil {
		return false, err
	}
	info, err := d.LstatAt(name)
	if err != nil || !info.IsDir() || info.Mode.Perm()&unlocked == unlocked {
		return false, err
	}
	return true, d.ChmodAt(name, info.Mode.Perm()|unlocked)
}

// RemoveUnlocked is Remove, or with onlyDir RemoveDir, which calls Unlock if the user may not remove p.
func RemoveUnlocked(root, p string, onlyDir bool, is func(dir string) bool) error {
	with := Remove
	if onlyDir {
		with = RemoveDir
	}
	err := with(root, p)
	if errors.Is(err, fs.ErrPermission) && Unlock(root, p, is) {
		return with(root, p)
	}
	return err
}
