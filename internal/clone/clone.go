// Package clone reads and writes the files of a workspace. The clone is the workspace's root
// directory and everything below it. The package follows no link that leads out of the clone: the
// target of such a link is absent for a reader, and refused to a writer. It touches nothing outside
// to find that out.
//
// A link may lead to another place in the clone, over any number of steps, if each target is
// relative to the link or starts with the root's own path.
package clone

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bentobuild/bento/diagnostics"
)

// RuleLink is the rule of the warning about a link that leads out of the clone.
const RuleLink = "link_leads_out"

// Clone is a workspace whose files are read and written. It is safe for concurrent use. Paths are
// absolute, or relative to the root. A nil Clone reads every path without a check.
type Clone struct {
	root string // absolute, free of links
	open func() (*ends, error)

	mu     sync.Mutex
	strays map[string]string // links that lead out, and their targets
}

// ends are the open root directory, in the two forms for opening paths below it.
type ends struct {
	root *os.Root
	dir  *os.File
}

// At returns the clone with this root, an absolute path free of links. The first access to a file
// opens the directory.
func At(root string) *Clone {
	c := &Clone{root: filepath.Clean(root), strays: make(map[string]string)}
	c.open = sync.OnceValues(func() (*ends, error) {
		r, err := os.OpenRoot(c.root)
		if err != nil {
			if fi, e := os.Stat(c.root); e == nil && !fi.IsDir() {
				err = &fs.PathError{Op: "open", Path: c.root, Err: syscall.ENOTDIR} // os returns this error as text only
			}
			return nil, err
		}
		dir, err := r.Open(".")
		return &ends{r, dir}, err
	})
	return c
}

// Root returns the root of the clone.
func (c *Clone) Root() string { return c.root }

// StrayError is the error of a path with a link that leads out of the clone. errors.Is reports
// fs.ErrNotExist for it.
type StrayError struct {
	Link   string // relative to the root, with forward slashes
	Target string // text of the link
}

func (e *StrayError) Error() string {
	return fmt.Sprintf("%q is a link to %q, which leads out of the workspace", e.Link, e.Target)
}

// Unwrap returns fs.ErrNotExist.
func (e *StrayError) Unwrap() error { return fs.ErrNotExist }

// OutsideError is the error of a path that is outside the clone as written. errors.Is reports
// fs.ErrNotExist for it.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%q lies outside the workspace", e.Path)
}

// Unwrap returns fs.ErrNotExist.
func (e *OutsideError) Unwrap() error { return fs.ErrNotExist }

// rel returns a path relative to the root, in the form of the system.
func (c *Clone) rel(path string) (string, error) {
	local := path
	if filepath.IsAbs(path) {
		plain := isClean(path)
		if !plain {
			path = filepath.Clean(path)
		}
		inside := false
		if local, inside = strings.CutPrefix(path, c.root); !inside || local != "" && !os.IsPathSeparator(local[0]) && c.root != string(filepath.Separator) {
			return "", &OutsideError{path}
		}
		local = strings.TrimPrefix(local, string(filepath.Separator))
		if plain && local != "" {
			return local, nil
		}
	}
	if local == "" {
		return ".", nil
	}
	if local = filepath.Clean(local); !filepath.IsLocal(local) {
		return "", &OutsideError{path}
	}
	return local, nil
}

// Holds reports whether a path is in the clone as written.
func (c *Clone) Holds(path string) bool {
	_, err := c.rel(path)
	return err == nil
}

// stray adds a link that leads out.
func (c *Clone) stray(link, target string) error {
	link = filepath.ToSlash(link)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strays[link] = target
	return &StrayError{link, target}
}

// Warnings returns a warning for each link that leads out of the clone and was used, sorted by
// path.
func (c *Clone) Warnings() []diagnostics.Diagnostic {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]diagnostics.Diagnostic, 0, len(c.strays))
	for link, target := range c.strays {
		list = append(list, diagnostics.Pos{File: link}.Warning(RuleLink, "the link leads out of the workspace, to %q: bento treats its target as missing", target).
			WithHint("put the file, or a copy, into the workspace"))
	}
	slices.SortFunc(list, diagnostics.Compare)
	return list
}
