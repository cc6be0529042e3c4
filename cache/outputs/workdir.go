package outputs

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/bentobuild/bento/internal/rawfile"
)

// ErrChanged reports that a file was replaced while it was read.
var ErrChanged = errors.New("it changed while it was read")

// BlockedError reports that a file or link is at the place of a directory.
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

// Root opens directories of a workspace from the root down. It keeps the directories above the last
// one open. It is not for concurrent use.
type Root struct {
	path string
	open []*Dir // open[0] is the root; each is the parent of the next
}

// Dir is an open directory. Its methods take names of entries.
type Dir struct {
	*rawfile.File
	path    string // relative to the workspace, "" for the root
	checked bool   // it is writable
}

// Open opens the workspace at root.
func Open(root string) (*Root, error) {
	f, err := rawfile.OpenDir(root)
	if err != nil {
		return nil, err
	}
	return &Root{path: root, open: []*Dir{{File: f}}}, nil
}

// Path returns the argument of Open.
func (w *Root) Path() string { return w.path }

// Close closes all open directories.
func (w *Root) Close() { w.closeTo(0) }

func (w *Root) closeTo(n int) {
	for _, d := range w.open[n:] {
		d.File.Close()
	}
	w.open = w.open[:n]
}

// At opens the directory at p, "." for the root, and makes missing ones if make is set. It returns
// fs.ErrNotExist when one is missing, or a *BlockedError. The directory stays open until the next
// call.
func (w *Root) At(p string, make bool) (*Dir, error) {
	if p == "." {
		p = ""
	} else if p != "" && !clean(p) {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrInvalid}
	}
	keep := 1
	for keep < len(w.open) && (w.open[keep].path == p || strings.HasPrefix(p, w.open[keep].path+"/")) {
		keep++
	}
	w.closeTo(keep)
	w.leap(p)
	d := w.Deepest()
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

// leap opens p, or else the last directory above it that it can, in one step. The caller opens the rest
// name by name and finds the cause.
func (w *Root) leap(p string) {
	d := w.Deepest()
	for {
		rest := strings.TrimPrefix(p[len(d.path):], "/")
		if !strings.Contains(rest, "/") {
			return
		}
		if f, err := d.OpenDirBelow(rest); err == nil {
			w.open = append(w.open, &Dir{File: f, path: p})
			return
		}
		p = path.Dir(p)
	}
}

// Leave closes all directories but the root: they may be replaced before the Root is used again.
func (w *Root) Leave() { w.closeTo(1) }

// clean reports whether p is relative and has no empty, "." or ".." elements. Unlike fs.ValidPath
// it accepts any bytes.
func clean(p string) bool {
	return path.Clean(p) == p && p[0] != '/' && p != ".." && !strings.HasPrefix(p, "../")
}

// Parent opens the parent directory of p, as At does, and returns p's name in it.
func (w *Root) Parent(p string, make bool) (d *Dir, name string, err error) {
	d, err = w.At(path.Dir(p), make)
	return d, path.Base(p), err
}

// Deepest returns the directory opened last: the one where At stopped when it returned an error.
func (w *Root) Deepest() *Dir { return w.open[len(w.open)-1] }

// Missing returns the first missing directory on the way to p, or p itself. The caller calls it
// after At found p missing.
func (w *Root) Missing(p string) string {
	at := w.Deepest().path
	name, _, _ := strings.Cut(strings.TrimPrefix(p[len(at):], "/"), "/")
	return path.Join(at, name)
}

// enter opens the directory name in d.
func (d *Dir) enter(name string, make bool) (*Dir, error) {
	p := path.Join(d.path, name)
	f, err := d.OpenDirAt(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.MkdirAt(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = d.OpenDirAt(name)
	}
	if rawfile.IsNotDir(err) {
		info, _ := d.LstatAt(name)
		return nil, &BlockedError{Path: p, Link: info.IsLink()}
	}
	if err != nil {
		return nil, err
	}
	return &Dir{File: f, path: p}, nil
}

// Writable returns the error of making a file in the directory if it is known beforehand.
func (d *Dir) Writable() error {
	if d.checked {
		return nil
	}
	d.checked = true
	return d.File.Writable()
}

// ReadFile opens the regular file name for reading. info is from LstatAt.
func (d *Dir) ReadFile(name string, info rawfile.Info) (*rawfile.File, error) {
	f, err := d.OpenAt(name)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !rawfile.Same(info, now) {
		f.Close()
		return nil, ErrChanged
	}
	return f, nil
}

// Remove removes the file, link or empty directory at p, and reports whether it removed one. It keeps a
// directory with content. It returns no error if p is missing or behind a link.
func (w *Root) Remove(p string) (bool, error) { return w.remove(p, false) }

// RemoveDir is Remove for an empty directory only.
func (w *Root) RemoveDir(p string) (bool, error) { return w.remove(p, true) }

func (w *Root) remove(p string, onlyDir bool) (bool, error) {
	d, name, err := w.Parent(p, false)
	var blocked *BlockedError
	if errors.As(err, &blocked) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := d.LstatAt(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && onlyDir && !info.IsDir() {
		return false, nil
	}
	if err == nil {
		err = d.RemoveAt(name, info.IsDir())
	}
	if errors.Is(err, fs.ErrNotExist) || rawfile.IsNotEmpty(err) {
		return false, nil
	}
	return err == nil, err
}
