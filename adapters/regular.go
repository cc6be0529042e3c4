package adapters

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// readRegular gives the content of a regular file, at most one byte more than
// MaxManifest of it. It does without os.File, which has the kernel look after each
// file as if it were a socket: of a large workspace thousands are read.
func readRegular(path string) (data []byte, err error) {
	// A pipe without a writer must not keep the reader waiting.
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if _, err := retry(func() (int, error) { return 0, syscall.Fstat(fd, &st) }); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if st.Size > MaxManifest {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, MaxManifest>>20)
	}
	data = make([]byte, 0, st.Size+1)
	for len(data) <= MaxManifest {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		free := data[len(data):cap(data)]
		n, err := retry(func() (int, error) { return syscall.Read(fd, free) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		// Of a file only its end gives less than there is room for.
		if n < len(free) {
			break
		}
	}
	return data, nil
}

// retry calls again what a signal has interrupted.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
