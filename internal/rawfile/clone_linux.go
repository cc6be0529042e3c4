package rawfile

import "golang.org/x/sys/unix"

// Clone makes f share the blocks of src. Most file systems do not support it.
func (f *File) Clone(src *File) bool { return unix.IoctlFileClone(f.fd, src.fd) == nil }
