package stat

import (
	"io/fs"
	"syscall"
)

// Of returns the part of fi that depends on the system.
func Of(fi fs.FileInfo) System {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return System{}
	}
	return System{Changed: st.Ctim.Nano(), Ino: st.Ino, Dev: uint64(st.Dev), Links: uint32(st.Nlink)}
}
