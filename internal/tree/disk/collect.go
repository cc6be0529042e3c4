package disk

import (
	"context"
	"fmt"
	"path"

	"github.com/bentobuild/bento/internal/state"
)

// Collector lists the entries at given paths, without ignore rules. It never lists anything in
// .git, or in .bento at the root.
type Collector struct {
	Root    *Root
	Enters  func(dir string) bool // reports whether to list a directory
	Empty   func(dir string) bool // reports whether to add an empty directory; nil: never
	Stop    <-chan struct{}       // ends with context.Canceled once closed; may be nil
	Entries []Entry               // results, unsorted

	reader *Reader
	todo   []string
}

// Collect adds the entry at path and all entries below it. It adds nothing for a path through a link,
// or through an entry that is no directory.
func (c *Collector) Collect(path string) error {
	if c.reader == nil {
		c.reader = c.Root.Reader()
	}
	e := Entry{Path: path}
	for at := range Ends(path) {
		err := c.reader.StatPath(path[:at], &e)
		if Gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%q: %w", path[:at], Bare(err))
		}
		if e.Kind == Dir {
			continue
		}
		if at == len(path) {
			c.Entries = append(c.Entries, e)
		}
		return nil
	}
	c.todo = append(c.todo, path)
	return c.below()
}

func (c *Collector) below() error {
	for len(c.todo) > 0 {
		dir := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if err := c.dir(dir); err != nil && !Gone(err) {
			return fmt.Errorf("directory %q: %w", dir, Bare(err))
		}
	}
	return nil
}

func (c *Collector) dir(dir string) error {
	if err := c.reader.Open(dir, 0); err != nil {
		return err
	}
	defer c.reader.Close()
	if err := c.reader.List(); err != nil {
		return err
	}
	if len(c.reader.Items) == 0 && c.Empty != nil && dir != "" {
		e := Entry{Path: dir}
		if err := c.reader.StatSelf(&e); err != nil {
			return err
		}
		c.Entries = append(c.Entries, e)
	}
	for i := range c.reader.Items {
		select {
		case <-c.Stop:
			return context.Canceled
		default:
		}
		if err := c.item(dir, &c.reader.Items[i]); err != nil && !Gone(err) {
			return err
		}
	}
	return nil
}

func (c *Collector) item(dir string, it *Item) error {
	name := string(c.reader.Name(it))
	if name == ".git" || dir == "" && name == state.Name {
		return nil
	}
	e := Entry{Path: path.Join(dir, name)}
	if it.Kind == Dir {
		if c.Enters(e.Path) || c.Empty != nil && c.Empty(e.Path) {
			c.todo = append(c.todo, e.Path)
		}
		return nil
	}
	if err := c.reader.Stat(it, &e); err != nil {
		return err
	}
	c.Entries = append(c.Entries, e)
	return nil
}

// Files adds to list the files and links directly in dir for whose paths keep returns true, and nothing if dir
// is gone.
func (r *Root) Files(dir string, keep func(path string) bool, list []Entry) ([]Entry, error) {
	reader := r.Reader()
	if err := reader.Open(dir, 0); err != nil {
		if Gone(err) {
			return list, nil
		}
		return nil, fmt.Errorf("directory %q: %w", dir, Bare(err))
	}
	defer reader.Close()
	if err := reader.List(); err != nil {
		return nil, fmt.Errorf("directory %q: %w", dir, Bare(err))
	}
	for i := range reader.Items {
		it := &reader.Items[i]
		e := Entry{Path: path.Join(dir, string(reader.Name(it)))}
		if it.Kind == Dir || !keep(e.Path) {
			continue
		}
		switch err := reader.Stat(it, &e); {
		case Gone(err):
		case err != nil:
			return nil, fmt.Errorf("%q: %w", e.Path, Bare(err))
		case e.Kind != Dir:
			list = append(list, e)
		}
	}
	return list, nil
}
