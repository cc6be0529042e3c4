package disk

import (
	"strings"

	"github.com/bentobuild/bento/internal/rawfile"
)

// lstat sets all fields of e but its path, which is relative to root.
func lstat(root string, e *Entry) error {
	path := root
	if e.Path != "." {
		path = join(root, e.Path)
	}
	info, err := rawfile.Lstat(path)
	if err == nil {
		e.set(info)
	}
	return err
}

func join(root, path string) string { return strings.TrimSuffix(root, "/") + "/" + path }

// stat sets all fields of e but its path.
func (e *Entry) stat(f *rawfile.File) error {
	info, err := f.Stat()
	if err == nil {
		e.set(info)
	}
	return err
}

func (e *Entry) set(i rawfile.Info) {
	e.Kind, e.Mode, e.Size = kindOf(i.Mode), i.Mode.Perm(), i.Size
	e.Mtime, e.Ctime = i.Modified.UnixNano(), i.Changed
	e.Ino, e.Dev, e.Links = i.Serial(), i.Disk(), uint32(i.Links())
}
