package archive

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// encrypted is the flag of a zip entry with a password.
const encrypted = 1

func readZip(data []byte, l Limits) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the zip is damaged: %w", err)
	}
	c := newContents(l)
	if len(r.File) > c.limits.Entries {
		return nil, fmt.Errorf("more than %d entries", c.limits.Entries)
	}
	for _, f := range r.File {
		if err := c.zipEntry(f); err != nil {
			return nil, err
		}
	}
	return c.done(), nil
}

func (c *contents) zipEntry(f *zip.File) error {
	mode := f.Mode()
	switch {
	case f.Flags&encrypted != 0:
		return fmt.Errorf("entry %.200q: it is encrypted", f.Name)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("entry %.200q: a symbolic link, expected regular files and directories only", f.Name)
	case !mode.IsRegular() && !mode.IsDir():
		return fmt.Errorf("entry %.200q: a special file, expected regular files and directories only", f.Name)
	case mode.IsDir() != strings.HasSuffix(f.Name, "/"):
		return fmt.Errorf("entry %.200q: its name and its mode disagree about a directory", f.Name)
	}
	name, err := c.enter(f.Name, mode.IsDir())
	if err != nil || mode.IsDir() {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("entry %.200q: %w", f.Name, err)
	}
	defer in.Close()
	// The size in the entry may be wrong.
	data, err := io.ReadAll(io.LimitReader(in, c.room()+1))
	if e := c.grow(int64(len(data))); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("entry %.200q: %w", f.Name, err)
	}
	c.add(File{Name: name, Data: data, Exec: mode&0o111 != 0})
	return nil
}
