package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// ReadDir reads the files of a directory. It leaves out .git and follows no link: one is an error.
func ReadDir(dir string, l Limits) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := newContents(l.or(MaxSize))
	if err := c.dir(root, "."); err != nil {
		return nil, err
	}
	return c.done(), nil
}

func (c *contents) dir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		list, err := d.ReadDir(256) // a directory may be endless
		if err != nil && err != io.EOF {
			return err
		}
		for _, e := range list {
			if err := c.dirEntry(root, path.Join(name, e.Name()), e); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			return nil
		}
	}
}

func (c *contents) dirEntry(root *os.Root, name string, e fs.DirEntry) error {
	if e.Name() == ".git" {
		return nil
	}
	if !e.IsDir() && !e.Type().IsRegular() {
		return fmt.Errorf("entry %.200q: a link or a special file, expected regular files and directories only", name)
	}
	if _, err := c.enter(name, e.IsDir()); err != nil {
		return err
	}
	if e.IsDir() {
		return c.dir(root, name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("entry %.200q: a symbolic link, expected regular files and directories only", name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("entry %.200q: it changed while it was read", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, c.room()+1))
	if err != nil {
		return err
	}
	if err := c.grow(int64(len(data))); err != nil {
		return err
	}
	c.add(File{Name: name, Data: data, Exec: fi.Mode()&0o111 != 0})
	return nil
}
