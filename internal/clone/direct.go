package clone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// LinkError is the error of OpenDirect for a path with a link.
type LinkError struct {
	Link   string // relative to the root, with forward slashes
	Target string // text of the link
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%q is a link to %q", e.Link, e.Target)
}

// OpenDirect opens a path for reading if neither the path nor a directory above it, up to the root, is
// a link. It returns a *LinkError otherwise, also for a link that leads to another place in the clone.
// It waits for no pipe. The caller closes the file.
func (c *Clone) OpenDirect(path string) (*os.File, error) {
	rel, err := c.rel(path)
	if err != nil {
		return nil, err
	}
	e, err := c.open()
	if err != nil {
		return nil, err
	}
	fd, err := e.plain(rel, os.O_RDONLY|syscall.O_NONBLOCK)
	if errors.Is(err, errLink) {
		return nil, e.firstLink(rel)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// firstLink returns the error of a path with a link.
func (e *ends) firstLink(rel string) error {
	for i := range len(rel) + 1 {
		if i < len(rel) && !os.IsPathSeparator(rel[i]) {
			continue
		}
		if target, err := e.root.Readlink(rel[:i]); err == nil {
			return &LinkError{filepath.ToSlash(rel[:i]), target}
		}
	}
	return &LinkError{Link: filepath.ToSlash(rel)} // it was replaced in the meantime
}
