package disk

import (
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/rawfile"
)

// openFile opens root/path for reading. It follows no link in the last component, and does not wait
// for the writer of a FIFO.
func openFile(root, path string) (*rawfile.File, error) {
	if len(root)+1+len(path) < unix.PathMax {
		return rawfile.Open(join(root, path))
	}
	p, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	fd, err := openBelow(p.fd, path, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return rawfile.Of(fd, path), nil
}
