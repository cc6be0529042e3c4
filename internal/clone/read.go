package clone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// TooLargeError is the error of a file that is larger than the limit of its reader.
type TooLargeError struct {
	Path string
	Max  int // bytes
}

func (e *TooLargeError) Error() string {
	if e.Max >= 1<<20 {
		return fmt.Sprintf("%s: larger than %d MiB", e.Path, e.Max>>20)
	}
	return fmt.Sprintf("%s: larger than %d KiB", e.Path, e.Max>>10)
}

// IrregularError is the error of a path that is not a regular file.
type IrregularError struct {
	Path string
	Dir  bool
}

func (e *IrregularError) Error() string { return e.Path + ": not a regular file" }

// Kind returns the kind of the file.
func (e *IrregularError) Kind() string {
	if e.Dir {
		return "a directory"
	}
	return "a device, pipe or socket"
}

// Read returns the content of a regular file of at most max bytes. It waits for no pipe and reads
// no device. It returns fs.ErrNotExist when the path is missing in the clone, an *IrregularError or
// a *TooLargeError.
func (c *Clone) Read(path string, max int) ([]byte, error) { return c.ReadInto(nil, path, max) }

// ReadInto is Read into the memory of buf, or into new memory if buf is too small.
func (c *Clone) ReadInto(buf []byte, path string, max int) ([]byte, error) {
	fd, err := c.fd(path, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	st, err := fstat(fd, path)
	if err != nil {
		return nil, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, &IrregularError{path, st.Mode&syscall.S_IFMT == syscall.S_IFDIR}
	}
	if int64(st.Size) > int64(max) {
		return nil, &TooLargeError{path, max}
	}
	return readAll(fd, path, slices.Grow(buf[:0], int(st.Size)+1), max)
}

// readAll appends a file to data. It avoids os.File, which registers each file with the poller: a
// large workspace has thousands of files.
func readAll(fd int, path string, data []byte, max int) ([]byte, error) {
	for len(data) <= max {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		free := data[len(data):cap(data)]
		n, err := retry(func() (int, error) { return syscall.Read(fd, free) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		// A short read of a file is its end.
		if n < len(free) {
			return data, nil
		}
	}
	return nil, &TooLargeError{path, max}
}

// Mode returns the type and permissions of a path. It returns fs.ErrNotExist when the path is
// missing in the clone.
func (c *Clone) Mode(path string) (fs.FileMode, error) {
	fd, err := c.fd(path, lookOnly)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(fd)
	st, err := fstat(fd, path)
	if err != nil {
		return 0, err
	}
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	default:
		mode |= fs.ModeIrregular
	}
	return mode, nil
}

// List returns the entries of a directory, sorted by name.
func (c *Clone) List(path string) ([]fs.DirEntry, error) {
	fd, err := c.fd(path, os.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	if c != nil && !filepath.IsAbs(path) {
		path = filepath.Join(c.root, path)
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// fd opens a path.
func (c *Clone) fd(path string, flag int) (int, error) {
	if c == nil {
		return openAnywhere(path, flag)
	}
	rel, err := c.rel(path)
	if err != nil {
		return -1, err
	}
	e, err := c.open()
	if err != nil {
		return -1, err
	}
	fd, err := e.plain(rel, flag)
	if errors.Is(err, errLink) {
		if rel, err = c.Resolve(rel); err != nil {
			return -1, err
		}
		fd, err = e.plain(rel, flag)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// errLink is the error of a path with a link.
const errLink = syscall.ELOOP

func openAnywhere(path string, flag int) (int, error) {
	fd, err := retry(func() (int, error) { return syscall.Open(path, flag|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// beneath opens a path as os.Root does, which follows links inside the root.
func (e *ends) beneath(rel string, flag int) (int, error) {
	f, err := e.root.OpenFile(rel, flag, 0)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return -1, err
	}
	defer f.Close()
	fd, err := retry(func() (int, error) { return syscall.Dup(int(f.Fd())) })
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

func fstat(fd int, path string) (*syscall.Stat_t, error) {
	var st syscall.Stat_t
	if _, err := retry(func() (int, error) { return 0, syscall.Fstat(fd, &st) }); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return &st, nil
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// slowly is plain for systems without openat2. A link that replaces an element meanwhile cannot
// lead out of the root.
func (e *ends) slowly(rel string, flag int) (int, error) {
	for i := range len(rel) + 1 {
		if i < len(rel) && !os.IsPathSeparator(rel[i]) {
			continue
		}
		fi, err := e.root.Lstat(rel[:i])
		if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return -1, errLink
		}
		if err != nil {
			break // beneath reports it
		}
	}
	return e.beneath(rel, flag)
}
