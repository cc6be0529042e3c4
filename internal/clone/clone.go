// Package clone reads and writes the files of a workspace. The clone is the
// workspace's root directory and what lies below it. No link that leads out of it is
// followed: what such a link names counts as absent to a reader, and is refused to a
// writer. Nothing outside is touched to find that out.
//
// A link may lead to another place in the clone, by any number of steps, as long as
// each of them is written relative to the link or starts with the root's own path.
package clone

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
)

// RuleLink is the rule of the warning about a link that leads out of the clone.
const RuleLink = "link_leads_out"

// Clone is a workspace whose files are read and written. It is safe for concurrent
// use. Paths are absolute, or relative to the root. A nil Clone reads every path as
// it is.
type Clone struct {
	root string // absolute, free of links
	open func() (*ends, error)

	mu     sync.Mutex
	strays map[string]string // links that led out, and their targets
}

// ends are the open root directory, for the two ways of going on from it.
type ends struct {
	root *os.Root
	dir  *os.File
}

// At returns the clone with this root, an absolute path free of links. The directory
// is opened when a file is asked for first.
func At(root string) *Clone {
	c := &Clone{root: filepath.Clean(root), strays: make(map[string]string)}
	c.open = sync.OnceValues(func() (*ends, error) {
		r, err := os.OpenRoot(c.root)
		if err != nil {
			return nil, err
		}
		dir, err := r.Open(".")
		return &ends{r, dir}, err
	})
	return c
}

// Root returns the root of the clone.
func (c *Clone) Root() string { return c.root }

// StrayError is the error of a path on which a link leads out of the clone. It is
// fs.ErrNotExist to errors.Is.
type StrayError struct {
	Link   string // relative to the root, with forward slashes
	Target string // as the link says it
}

func (e *StrayError) Error() string {
	return fmt.Sprintf("%q is a link to %q, which leads out of the workspace", e.Link, e.Target)
}

// Unwrap makes what lies behind the link absent.
func (e *StrayError) Unwrap() error { return fs.ErrNotExist }

// OutsideError is the error of a path that lies outside of the clone as it is
// written. It is fs.ErrNotExist to errors.Is.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%q lies outside the workspace", e.Path)
}

// Unwrap makes what lies outside absent.
func (e *OutsideError) Unwrap() error { return fs.ErrNotExist }

// rel returns a path relative to the root, in the form of the system.
func (c *Clone) rel(path string) (string, error) {
	local := path
	if filepath.IsAbs(path) {
		path = filepath.Clean(path)
		inside := false
		if local, inside = strings.CutPrefix(path, c.root); !inside || local != "" && !os.IsPathSeparator(local[0]) && c.root != string(filepath.Separator) {
			return "", &OutsideError{path}
		}
		local = strings.TrimPrefix(local, string(filepath.Separator))
	}
	if local == "" {
		return ".", nil
	}
	if local = filepath.Clean(local); !filepath.IsLocal(local) {
		return "", &OutsideError{path}
	}
	return local, nil
}

// Holds reports whether a path lies in the clone as it is written.
func (c *Clone) Holds(path string) bool {
	_, err := c.rel(path)
	return err == nil
}

// stray notes a link that leads out.
func (c *Clone) stray(link, target string) error {
	link = filepath.ToSlash(link)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strays[link] = target
	return &StrayError{link, target}
}

// Warnings returns a warning for each link that led out of the clone and was asked
// for, by path.
func (c *Clone) Warnings() []diagnostics.Diagnostic {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]diagnostics.Diagnostic, 0, len(c.strays))
	for link, target := range c.strays {
		list = append(list, diagnostics.Diagnostic{
			File: link, Severity: diagnostics.Warning, Rule: RuleLink, Source: diagnostics.Source,
			Message: fmt.Sprintf("the link leads out of the workspace, to %q: bento reads nothing there and takes it for absent", target),
			Hint:    "put the file, or a copy, into the workspace",
		})
	}
	slices.SortFunc(list, diagnostics.Compare)
	return list
}
