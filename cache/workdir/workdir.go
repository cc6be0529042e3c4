// Package workdir works on files below the root of a workspace and never goes
// through a link: what a task has left there cannot lead a reader or a writer
// elsewhere, not even when it is changed meanwhile.
//
// Paths are relative to the root and use "/". They are not checked: a name that is
// ".." or absolute is an error of os.Root.
package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// ErrChanged says that a file was replaced while it was looked at.
var ErrChanged = errors.New("it changed while it was read")

// Root opens directories of a workspace, from the root down. It keeps those on the
// way to the last one open. It is not for concurrent use.
type Root struct {
	path string
	open []*Dir // open[0] is the root, each lies in the one before
}

// Dir is an open directory. Its os.Root is for names in it, without "/"; a name that
// is a link must not be opened with it.
type Dir struct {
	*os.Root
	path    string // relative to the workspace, "" for the root
	handle  *os.File
	checked bool // it can be written
}

// Open opens the workspace at root.
func Open(root string) (*Root, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Root{path: root, open: []*Dir{{Root: r}}}, nil
}

// Path gives what Open was given.
func (w *Root) Path() string { return w.path }

// Close closes all that is open.
func (w *Root) Close() { w.closeTo(0) }

func (w *Root) closeTo(n int) {
	for _, d := range w.open[n:] {
		d.close()
	}
	w.open = w.open[:n]
}

func (d *Dir) close() {
	if d.handle != nil {
		d.handle.Close()
	}
	d.Root.Close()
}

// At opens the directory at p, "." for the root. make says that missing ones are
// made. The error is fs.ErrNotExist when one is missing, or a *BlockedError. The
// directory is open until the next call.
func (w *Root) At(p string, make bool) (*Dir, error) {
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

// Parent opens the directory that p lies in, as At does, and gives p's name there.
func (w *Root) Parent(p string, make bool) (d *Dir, name string, err error) {
	d, err = w.At(path.Dir(p), make)
	return d, path.Base(p), err
}

// Deepest gives the directory opened last: where At stopped when it gave an error.
func (w *Root) Deepest() *Dir { return w.open[len(w.open)-1] }

// BlockedError says that a directory is needed where something else is.
type BlockedError struct {
	Path string
	Link bool // it is a link
}

func (e *BlockedError) Error() string {
	if e.Link {
		return "\"" + e.Path + "\" is a link"
	}
	return "\"" + e.Path + "\" is not a directory"
}

// enter opens the directory name in d.
func (d *Dir) enter(name string, make bool) (*Dir, error) {
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
		return nil, &BlockedError{Path: p, Link: fi.Mode()&fs.ModeSymlink != 0}
	}
	r, err := d.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := r.Stat("."); err != nil || !os.SameFile(fi, now) {
		r.Close()
		return nil, &BlockedError{Path: p, Link: true} // replaced while we looked
	}
	return &Dir{Root: r, path: p}, nil
}

// file gives a handle of the directory itself.
func (d *Dir) file() (*os.File, error) {
	if d.handle == nil {
		f, err := d.Open(".")
		if err != nil {
			return nil, err
		}
		d.handle = f
	}
	return d.handle, nil
}

// Writable gives the error of making a file in the directory, if that is known.
func (d *Dir) Writable() error {
	if d.checked {
		return nil
	}
	d.checked = true
	if err := checkAccess(d); err != nil {
		return &fs.PathError{Op: "write", Path: d.Name(), Err: err}
	}
	return nil
}

// ReadFile opens the regular file name, which fi describes, for reading.
func (d *Dir) ReadFile(name string, fi fs.FileInfo) (*os.File, error) {
	f, err := d.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(fi, now) {
		f.Close()
		return nil, ErrChanged
	}
	return f, nil
}

// Remove removes what is at p: a file, a link, an empty directory. A directory with
// something in it stays. It tells whether something was removed. That nothing is
// there is no error; what lies behind a link is not there.
func (w *Root) Remove(p string) (bool, error) {
	d, name, err := w.Parent(p, false)
	var blocked *BlockedError
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

// RemoveDir is Remove for an empty directory and nothing else.
func (w *Root) RemoveDir(p string) (bool, error) {
	d, name, err := w.Parent(p, false)
	if err != nil {
		return false, nil // it is gone, or lies behind something else
	}
	if fi, err := d.Lstat(name); err != nil || !fi.IsDir() {
		return false, nil
	}
	return w.Remove(p)
}

// isNotEmpty tells the error of removing a directory that is not empty.
func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}
