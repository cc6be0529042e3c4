//go:build unix

package owner

import (
	"io/fs"
	"syscall"
)

// uidOf returns the owner of a file. No other function reads it.
func uidOf(fi fs.FileInfo) (uint32, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
