//go:build unix

package owner

import (
	"io/fs"
	"syscall"
)

// uidOf is the one function that reads the owner of a file.
func uidOf(fi fs.FileInfo) (uint32, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
