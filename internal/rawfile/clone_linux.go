package rawfile

import "golang.org/x/sys/unix"

// Clone lets f share the blocks of src until either is written to. Most file
// systems cannot.
func (f *File) Clone(src *File) bool { return unix.IoctlFileClone(f.fd, src.fd) == nil }
