//go:build !linux

package host

import (
	"io/fs"
	"time"
)

// identify returns the time of the content: other times are not available.
func identify(fi fs.FileInfo) (ctime time.Time, inode string) { return fi.ModTime(), "" }
