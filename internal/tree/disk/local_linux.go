package disk

import (
	"slices"

	"golang.org/x/sys/unix"
)

// local reports whether the file fd is on a local file system that gives a directory a new time
// whenever an entry is added or removed. It returns false for file systems outside its list, and for
// those of other machines, whose clients may cache an older time.
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
