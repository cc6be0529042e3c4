//go:build unix

package owner

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
)

const hasOwners = true

// gidOf returns the group of a file.
func gidOf(fi fs.FileInfo) (uint32, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Gid, true
}

// groupName returns the name of a group for a message, such as "group staff (50)".
func groupName(gid uint32) string {
	if g, err := user.LookupGroupId(strconv.FormatUint(uint64(gid), 10)); err == nil {
		return fmt.Sprintf("group %s (%d)", g.Name, gid)
	}
	return fmt.Sprintf("group %d", gid)
}
