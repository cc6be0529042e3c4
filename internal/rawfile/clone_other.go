//go:build !linux

package rawfile

// Clone does nothing here.
func (f *File) Clone(*File) bool { return false }
