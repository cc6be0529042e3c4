package host

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// identify returns the inode's change time and a text that identifies the inode.
func identify(fi fs.FileInfo) (ctime time.Time, inode string) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fi.ModTime(), ""
	}
	return time.Unix(st.Ctim.Unix()), fmt.Sprintf("%d.%d", st.Dev, st.Ino)
}
