package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// maxNamed is the maximal size in bytes of a file that a flag names for reading.
const maxNamed = 64 << 20

// readerGrace is the time that bento waits for the reader of a pipe: a shell starts the writer and the
// reader at the same time.
const readerGrace = 2 * time.Second

// lastWords is the timeout of writes to a pipe after bento is interrupted.
const lastWords = time.Second

// kindOf names the kind of an entry that is not a regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	default:
		return "a device"
	}
}

// readNamed reads a file that a flag names, or a pipe that has a writer. It refuses a device,
// and stops when ctx is done.
func readNamed(ctx context.Context, name string) ([]byte, error) {
	// Without O_NONBLOCK the open would wait for a writer of a pipe.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !fi.Mode().IsRegular() && fi.Mode()&fs.ModeNamedPipe == 0 {
		return nil, fmt.Errorf("it is no file but %s", kindOf(fi.Mode()))
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Now()) })()
	data, err := io.ReadAll(io.LimitReader(f, maxNamed+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, bare(err)
	case len(data) > maxNamed:
		return nil, fmt.Errorf("it is larger than %d MiB", maxNamed>>20)
	}
	return data, nil
}

// bare returns an error without its path: the caller prints the path itself.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// writable returns an error if the path exists and is neither a file nor a pipe nor a
// character device. A missing file is no error.
func writable(name string) error {
	fi, err := os.Stat(name)
	if err != nil {
		return nil // openNamed makes it, or fails
	}
	m := fi.Mode()
	if m.IsRegular() || m&fs.ModeNamedPipe != 0 || m&fs.ModeCharDevice != 0 {
		return nil
	}
	return fmt.Errorf("it is no file but %s", kindOf(m))
}

// openNamed opens a file that a flag names for writing, and makes a missing one. For a pipe
// it waits up to readerGrace for a reader. Once ctx is done, writes to the pipe time out
// after lastWords, so a stalled reader does not block bento.
func openNamed(ctx context.Context, name string) (*os.File, error) {
	if err := writable(name); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(readerGrace)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o666)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now().Add(lastWords)) })
			return f, nil
		}
		if !errors.Is(err, syscall.ENXIO) {
			return nil, bare(err)
		}
		if time.Now().After(deadline) {
			return nil, errors.New("it is a pipe without a reader")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
