package clone

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is the largest number of links on the way to one file, as in the kernel.
const maxLinks = 40

// Resolve returns the target of a path: relative to the root, in the form of the system, and free
// of links as far as it exists. Missing elements stay as written. It returns a *StrayError or
// *OutsideError when the path leads out.
func (c *Clone) Resolve(path string) (string, error) {
	rel, err := c.rel(path)
	if err != nil {
		return "", err
	}
	e, err := c.open()
	if err != nil {
		return "", err
	}
	w := walk{c: c, root: e.root, at: ".", rest: split(rel)}
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.step(name); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// walk resolves a path name by name.
type walk struct {
	c    *Clone
	root *os.Root
	at   string   // resolved part, free of links
	rest []string // names that are left

	link, target string // the last link followed
	links        int
}

// step resolves one name.
func (w *walk) step(name string) error {
	switch {
	case name == "" || name == ".":
		return nil
	case name == ".." && w.at == ".":
		return w.c.stray(w.link, w.target) // only a link contains ".."
	case name == "..":
		w.at = filepath.Dir(w.at)
		return nil
	}
	next := filepath.Join(w.at, name)
	fi, err := w.root.Lstat(next)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		w.at = next // and all further names are missing too
		return nil
	}
	if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		w.at = next
		return err
	}
	return w.follow(next)
}

// follow continues at the target of a link.
func (w *walk) follow(link string) error {
	target, err := w.root.Readlink(link)
	if err != nil {
		return err
	}
	if w.links++; w.links > maxLinks {
		return &fs.PathError{Op: "open", Path: link, Err: syscall.ELOOP}
	}
	w.link, w.target = link, target
	if filepath.IsAbs(target) {
		// rest is not cleaned: ".." after a link may lead elsewhere.
		rest, inside := strings.CutPrefix(target, w.c.root)
		if !inside || rest != "" && !os.IsPathSeparator(rest[0]) && w.c.root != string(filepath.Separator) {
			return w.c.stray(link, target)
		}
		w.at, target = ".", rest
	}
	w.rest = append(split(target), w.rest...)
	return nil
}

func split(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
