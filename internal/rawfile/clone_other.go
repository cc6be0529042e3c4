//go:build !linux

package rawfile

// Clone returns false on this system.
func (f *File) Clone(*File) bool { return false }
