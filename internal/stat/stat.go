// Package stat reads the parts of a file's stat that fs.FileInfo does not have, and writes a stat as
// text.
package stat

import (
	"fmt"
	"io/fs"
	"time"
)

// System is the part of a stat that depends on the system. It is zero on a system without these
// values.
type System struct {
	Changed  int64 // time of the last change of the inode, in nanoseconds since 1970
	Ino, Dev uint64
	Links    uint32 // number of hard links
}

// Text returns a text that changes whenever the file changes, as far as its stat shows.
func Text(fi fs.FileInfo) string {
	s := Of(fi)
	return fmt.Sprintf("%d %d %d %o %d.%d", fi.Size(), fi.ModTime().UnixNano(), s.Changed, fi.Mode(), s.Dev, s.Ino)
}

// Changed returns the later of the times of content and of inode.
func Changed(fi fs.FileInfo) time.Time {
	return time.Unix(0, max(Of(fi).Changed, fi.ModTime().UnixNano()))
}
