//go:build unix && !linux

package rawfile

// ReplaceAt is RenameAt for a file that may be empty after a power cut.
func (f *File) ReplaceAt(name string, to *File, newName string) error {
	return f.RenameAt(name, to, newName)
}
