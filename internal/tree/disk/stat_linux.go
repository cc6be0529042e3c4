package disk

import (
	"io/fs"
	"syscall"
)

func fillSystem(e *Entry, fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		e.Ctime = st.Ctim.Nano()
		e.Ino, e.Dev, e.Links = st.Ino, uint64(st.Dev), uint32(st.Nlink)
	}
}
