package disk

import (
	"io"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// lstat sets all fields of e but its path, which is relative to root.
func lstat(root string, e *Entry) error {
	var st unix.Stat_t
	path := root
	if e.Path != "." {
		path = strings.TrimSuffix(root, "/") + "/" + e.Path
	}
	for {
		err := unix.Lstat(path, &st)
		if err == nil {
			fillStat(e, &st)
			return nil
		}
		if err != unix.EINTR {
			return &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
	}
}

// file is an open file that is not registered with the poller of package os.
type file struct{ fd int }

// openFile opens root/path for reading. It follows no link in the last component
// and does not wait for the writer of a FIFO.
func openFile(root, path string) (*file, error) {
	if len(root)+1+len(path) < unix.PathMax {
		fd, err := openAt(unix.AT_FDCWD, strings.TrimSuffix(root, "/")+"/"+path, unix.O_NOFOLLOW|unix.O_NONBLOCK)
		return &file{fd}, err
	}
	p, err := OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	fd, err := openBelow(p.fd, path, unix.O_NONBLOCK)
	return &file{fd}, err
}

func (f *file) close() { unix.Close(f.fd) }

// stat sets all fields of e but its path.
func (f *file) stat(e *Entry) error {
	var st unix.Stat_t
	for {
		err := unix.Fstat(f.fd, &st)
		if err == nil {
			fillStat(e, &st)
		}
		if err != unix.EINTR {
			return err
		}
	}
}

func (f *file) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (f *file) rewind() error {
	_, err := unix.Seek(f.fd, 0, io.SeekStart)
	return err
}
