package state

import (
	"errors"
	"io"
	"io/fs"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Claimed is a file that belongs to this process until it is closed.
type Claimed struct {
	*rawfile.File
	dir  *owndir.Dir
	name string
}

// Close closes the file; other processes may claim it then.
func (c *Claimed) Close() {
	c.File.Close()
	c.dir.Close()
}

// Remove removes the file, if it still has its name, and closes it.
func (c *Claimed) Remove() error {
	defer c.Close()
	if !c.isThere() {
		return nil
	}
	if err := c.dir.Remove(c.name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadAll returns at most limit bytes of the file.
func (c *Claimed) ReadAll(limit int64) ([]byte, error) {
	if err := c.Rewind(); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(c.File, limit))
}

func (c *Claimed) isThere() bool {
	opened, err := c.Stat()
	if err != nil {
		return false
	}
	there, err := c.dir.Stat(c.name)
	return err == nil && rawfile.Same(opened, there)
}

// Claim makes a file in the directory dir that belongs to this process until it is closed. After the
// file is closed, or the process has died, Abandoned returns it.
func (d *Dir) Claim(dir string) (*Claimed, error) {
	parent, err := d.sub(dir, true)
	if err != nil {
		return nil, err
	}
	for range 100 {
		c := &Claimed{dir: parent, name: owndir.RandomName()}
		c.File, err = parent.Create(c.name, owndir.Private) // it is a lock too
		if err == nil {
			if err = c.TryLock(); err == nil && c.isThere() {
				return c, nil
			}
			c.File.Close() // another process took it for abandoned before it was locked
		}
		if err != nil && !errors.Is(err, rawfile.ErrLocked) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			parent.Close()
			return nil, err
		}
	}
	parent.Close()
	return nil, &fs.PathError{Op: "create", Path: d.Shown(dir), Err: fs.ErrExist}
}

// Abandoned claims the files in the directory dir that Claim has made and that no process holds.
// The caller closes or removes them.
func (d *Dir) Abandoned(dir string) []*Claimed {
	parent, err := d.sub(dir, false)
	if err != nil {
		return nil
	}
	defer parent.Close()
	entries, _ := parent.Names()
	var list []*Claimed
	for _, e := range entries {
		if !owndir.IsRandomName(e.Name()) {
			continue
		}
		if c := take(parent, e.Name()); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// take claims one file. It returns nil for a file that another process holds or that Claim has not
// made.
func take(parent *owndir.Dir, name string) *Claimed {
	f, _, err := parent.Open(name)
	if err != nil {
		return nil
	}
	dir, err := parent.Clone()
	if err != nil || f.TryLock() != nil {
		f.Close()
		if err == nil {
			dir.Close()
		}
		return nil
	}
	return &Claimed{File: f, dir: dir, name: name}
}

// Claims lists the names of the files in the directory dir that Claim has made, held by a process or not.
func (d *Dir) Claims(dir string) (names []string) {
	parent, err := d.sub(dir, false)
	if err != nil {
		return nil
	}
	defer parent.Close()
	entries, _ := parent.Names()
	for _, e := range entries {
		if owndir.IsRandomName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// IsHeld reports whether a process holds the file name in the directory dir, which Claim has made.
func (d *Dir) IsHeld(dir, name string) bool {
	parent, err := d.sub(dir, false)
	if err != nil {
		return false
	}
	defer parent.Close()
	f, _, err := parent.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(f.TryLock(), rawfile.ErrLocked)
}
