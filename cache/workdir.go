package cache

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// workdir opens directories of a workspace, from the root down and never through a
// link. It keeps those on the way to the last one open. Not for concurrent use.
type workdir struct {
	root string
	open []*dir // open[0] is the root, each lies in the one before
}

// dir is an open directory.
type dir struct {
	*os.Root
	path    string // relative to the workspace, "" for the root
	handle  *os.File
	checked bool // it can be written
}

func openWorkdir(root string) (*workdir, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &workdir{root: root, open: []*dir{{Root: r}}}, nil
}

func (w *workdir) close() { w.closeTo(0) }

func (w *workdir) closeTo(n int) {
	for _, d := range w.open[n:] {
		d.close()
	}
	w.open = w.open[:n]
}

func (d *dir) close() {
	if d.handle != nil {
		d.handle.Close()
	}
	d.Root.Close()
}

// at opens the directory at p, "." for the root. make says that missing ones are
// made. The error is fs.ErrNotExist when one is missing, or a *blockedError.
func (w *workdir) at(p string, make bool) (*dir, error) {
	if p == "." {
		p = ""
	}
	keep := 1
	for keep < len(w.open) && (w.open[keep].path == p || strings.HasPrefix(p, w.open[keep].path+"/")) {
		keep++
	}
	w.closeTo(keep)
	d := w.open[keep-1]
	for d.path != p {
		rest := strings.TrimPrefix(p[len(d.path):], "/")
		name, _, _ := strings.Cut(rest, "/")
		next, err := d.enter(name, make)
		if err != nil {
			return nil, err
		}
		w.open = append(w.open, next)
		d = next
	}
	return d, nil
}

// parent opens the directory that p lies in, and gives p's name there.
func (w *workdir) parent(p string, make bool) (d *dir, name string, err error) {
	d, err = w.at(path.Dir(p), make)
	return d, path.Base(p), err
}

// deepest gives the directory opened last: where at stopped when it gave an error.
func (w *workdir) deepest() *dir { return w.open[len(w.open)-1] }

// blockedError says that a directory is needed where something else is.
type blockedError struct {
	path string
	link bool
}

func (e *blockedError) Error() string {
	if e.link {
		return "\"" + e.path + "\" is a link"
	}
	return "\"" + e.path + "\" is not a directory"
}

// enter opens the directory name in d.
func (d *dir) enter(name string, make bool) (*dir, error) {
	fi, err := d.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		fi, err = d.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	p := path.Join(d.path, name)
	if !fi.IsDir() {
		return nil, &blockedError{path: p, link: fi.Mode()&fs.ModeSymlink != 0}
	}
	r, err := d.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := r.Stat("."); err != nil || !os.SameFile(fi, now) {
		r.Close()
		return nil, &blockedError{path: p, link: true} // replaced while we looked
	}
	return &dir{Root: r, path: p}, nil
}

// file gives a handle of the directory itself.
func (d *dir) file() (*os.File, error) {
	if d.handle == nil {
		f, err := d.Open(".")
		if err != nil {
			return nil, err
		}
		d.handle = f
	}
	return d.handle, nil
}

// writable gives the error of making a file in the directory, if that is known.
func (d *dir) writable() error {
	if d.checked {
		return nil
	}
	d.checked = true
	if err := checkAccess(d); err != nil {
		return &fs.PathError{Op: "write", Path: d.Name(), Err: err}
	}
	return nil
}

// read opens the regular file name, which fi describes, for reading.
func (d *dir) read(name string, fi fs.FileInfo) (*os.File, error) {
	f, err := d.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(fi, now) {
		f.Close()
		return nil, errChanged
	}
	return f, nil
}

// errChanged says that a file was changed while it was read.
var errChanged = errors.New("it changed while it was read")

// Remove removes what is at p in the workspace: a file, a link, an empty
// directory. A directory with something in it stays. It is no error when nothing
// is there; what lies behind a link is not there.
func Remove(root, p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	w, err := openWorkdir(root)
	if err != nil {
		return err
	}
	defer w.close()
	_, err = w.remove(p)
	return err
}

// remove is Remove, and tells whether something was removed.
func (w *workdir) remove(p string) (bool, error) {
	d, name, err := w.parent(p, false)
	var blocked *blockedError
	if errors.As(err, &blocked) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = d.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) || isNotEmpty(err) {
		return err == nil, nil
	}
	return false, err
}

// removeDir is remove for an empty directory and nothing else.
func (w *workdir) removeDir(p string) (bool, error) {
	d, name, err := w.parent(p, false)
	if err != nil {
		return false, nil // it is gone, or lies behind something else
	}
	if fi, err := d.Lstat(name); err != nil || !fi.IsDir() {
		return false, nil
	}
	return w.remove(p)
}

// isNotEmpty tells the error of removing a directory that is not empty.
func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}
