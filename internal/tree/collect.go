package tree

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/internal/state"
)

// Expand gives what is on disk now at the paths that s means, sorted by path: no
// ignore rules, links as links, and directories that are empty as entries of Kind
// Dir. Root is an absolute path. Nothing in .git, or in .bento at the root, is
// ever meant. The error says what could not be read.
func Expand(root string, s *Set) ([]Entry, error) {
	p, err := openPlace(root)
	if err != nil {
		return nil, err
	}
	defer p.close()
	c := collector{place: p, enters: s.enters, empty: s.Match}
	for _, r := range s.roots {
		if err := c.collect(r); err != nil {
			return nil, err
		}
	}
	list := c.entries[:0]
	for _, e := range c.entries {
		if s.Match(e.Path) {
			list = append(list, e)
		}
	}
	return sortEntries(list), nil
}

// collector lists directories without ignore rules.
type collector struct {
	place   *place
	scanner *scanner
	enters  func(dir string) bool // whether to look into a directory
	empty   func(dir string) bool // whether to list one that is empty; nil: never
	entries []Entry
	todo    []string
}

// collect adds what is at path and below. A path that leads through a link, or
// through something that is no directory, is nowhere.
func (c *collector) collect(path string) error {
	for at := range ends(path) {
		fi, err := os.Lstat(filepath.Join(c.place.path, filepath.FromSlash(path[:at])))
		if gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%q: %w", path[:at], bare(err))
		}
		if fi.IsDir() {
			continue
		}
		if at == len(path) {
			e := Entry{Path: path}
			e.fill(fi)
			c.entries = append(c.entries, e)
		}
		return nil
	}
	c.todo = append(c.todo, path)
	return c.below()
}

func (c *collector) below() error {
	if c.scanner == nil {
		c.scanner = c.place.scanner()
	}
	for len(c.todo) > 0 {
		dir := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if err := c.dir(dir); err != nil && !gone(err) {
			return fmt.Errorf("directory %q: %w", dir, bare(err))
		}
	}
	return nil
}

func (c *collector) dir(dir string) error {
	if err := c.scanner.open(dir); err != nil {
		return err
	}
	defer c.scanner.close()
	if err := c.scanner.list(); err != nil {
		return err
	}
	if len(c.scanner.items) == 0 && c.empty != nil && dir != "" {
		e := Entry{Path: dir}
		if err := c.scanner.statSelf(&e); err != nil {
			return err
		}
		c.entries = append(c.entries, e)
	}
	for i := range c.scanner.items {
		if err := c.item(dir, &c.scanner.items[i]); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

func (c *collector) item(dir string, it *item) error {
	name := string(c.scanner.name(it))
	if name == ".git" || dir == "" && name == state.Name {
		return nil
	}
	e := Entry{Path: join(dir, name)}
	if it.kind == Dir {
		if c.enters(e.Path) || c.empty != nil && c.empty(e.Path) {
			c.todo = append(c.todo, e.Path)
		}
		return nil
	}
	if err := c.scanner.stat(it, &e); err != nil {
		return err
	}
	c.entries = append(c.entries, e)
	return nil
}
