package rawfile

import (
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/killpoint"
)

// ReplaceAt is RenameAt for a file that may be empty after a power cut. If newName is a regular file, it exchanges
// the two and removes the old one. ext4 starts to write the new data to the disk before it renames over a file, which
// takes at least ten times as long.
func (f *File) ReplaceAt(name string, to *File, newName string) error {
	if info, err := lstat(to.fd, newName); err != nil || !info.Mode.IsRegular() {
		return f.RenameAt(name, to, newName)
	}
	killpoint.Point()
	if unix.Renameat2(f.fd, name, to.fd, newName, unix.RENAME_EXCHANGE) != nil {
		return f.RenameAt(name, to, newName) // the file system does not support it, or newName is missing
	}
	err := f.RemoveAt(name, false)
	if err == nil {
		return nil
	}
	// Another process has put a directory at newName meanwhile: it is moved back.
	_ = unix.Renameat2(f.fd, name, to.fd, newName, unix.RENAME_EXCHANGE)
	return err
}
