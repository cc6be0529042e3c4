//go:build !linux && !darwin

package disk

import "io/fs"

// fillSystem does nothing: on this system only size and modification time count.
func fillSystem(*Entry, fs.FileInfo) {}
