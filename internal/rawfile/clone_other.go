//go:build !linux

package rawfile

// Clone returns an error on this system.
func (f *File) Clone(*File) bool { return false }
