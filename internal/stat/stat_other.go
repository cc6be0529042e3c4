//go:build !linux && !darwin

package stat

import "io/fs"

// Of returns the zero value: this system only has the size and the modification time.
func Of(fs.FileInfo) System { return System{} }
