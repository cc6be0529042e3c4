package host

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// identify gives the inode's change time and what tells the inode from others.
func identify(fi fs.FileInfo) (ctime time.Time, inode string) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fi.ModTime(), ""
	}
	return time.Unix(st.Ctim.Unix()), fmt.Sprintf("%d.%d", st.Dev, st.Ino)
}
