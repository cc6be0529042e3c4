package disk

import (
	"slices"

	"golang.org/x/sys/unix"
)

// local tells whether the file fd is on a file system of this machine that gives a
// directory a new time whenever a name comes into it or leaves it. Of those that
// are not in the list nobody knows, and on another machine's somebody may have
// remembered an older time.
func local(fd int) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return false
	}
	return slices.Contains([]int64{
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	}, int64(st.Type))
}
