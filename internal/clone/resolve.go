package clone

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links are followed on the way to one file, as by the kernel.
const maxLinks = 40

// Resolve returns where a path leads: relative to the root, in the form of the
// system, and free of links as far as it exists. What is missing stays as it is
// written. The error is a *StrayError or *OutsideError where the path leads out.
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

// walk is a path that is followed name by name.
type walk struct {
	c    *Clone
	root *os.Root
	at   string   // as far as it is done: no link
	rest []string // what is left to do

	link, target string // the link that was followed last
	links        int
}

// step goes on from at to name.
func (w *walk) step(name string) error {
	switch {
	case name == "" || name == ".":
		return nil
	case name == ".." && w.at == ".":
		return w.c.stray(w.link, w.target) // nobody but a link says ".."
	case name == "..":
		w.at = filepath.Dir(w.at)
		return nil
	}
	next := filepath.Join(w.at, name)
	fi, err := w.root.Lstat(next)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		w.at = next // and so on, with what is not there
		return nil
	}
	if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		w.at = next
		return err
	}
	return w.follow(next)
}

// follow goes where the link leads.
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
		// It is not cleaned: ".." behind a link is not what it seems.
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
