//go:build !linux

package disk

import "github.com/bentobuild/bento/internal/rawfile"

// openFile opens root/path for reading. It follows no link in the last component
// and does not wait for the writer of a FIFO.
func openFile(root, path string) (*rawfile.File, error) { return rawfile.Open(join(root, path)) }
