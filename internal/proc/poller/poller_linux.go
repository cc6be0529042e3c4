package poller

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Poller is an epoll(7) that Go's poller waits for. It is for one goroutine.
type Poller struct {
	fd   int
	file *os.File // the same
	raw  syscall.RawConn
}

// Event is what is told of a descriptor.
type Event struct {
	At       int32 // what Add was given
	Readable bool  // false: there is nothing to read, nor will there be
}

// New gives a Poller.
func New() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, true) // for NewFile, which asks
	w := &Poller{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if w.raw, err = w.file.SyscallConn(); err == nil {
		err = w.file.SetReadDeadline(time.Time{}) // fails when Go's poller does not take it
	}
	if err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

// Close closes the poller and none of what was added.
func (w *Poller) Close() { w.file.Close() }

// Add has w tell of a descriptor, once.
func (w *Poller) Add(fd int, at int32) error {
	return unix.EpollCtl(w.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: at})
}

// Remove takes back a descriptor that was not told of. Another child that is being
// forked may have it open too, so that to close it is not enough.
func (w *Poller) Remove(fd int) error { return unix.EpollCtl(w.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// maxEvents is more than anybody adds.
const maxEvents = 8

// Wait gives what happens to take until that says that it was enough. The error says
// that ctx was done or until over, when that is not zero; then, or when reuse is false,
// w is good for nothing more.
func (w *Poller) Wait(ctx context.Context, until time.Time, take func(Event) (enough bool)) (reuse bool, err error) {
	if !until.IsZero() {
		if err := w.file.SetReadDeadline(until); err != nil {
			return false, err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) })
	err = w.raw.Read(func(uintptr) bool { return w.look(take) })
	untouched := stop()
	if err != nil || !untouched {
		return false, err
	}
	return until.IsZero() || w.file.SetReadDeadline(time.Time{}) == nil, nil
}

func (w *Poller) look(take func(Event) bool) (enough bool) {
	var events [maxEvents]unix.EpollEvent
	n, err := unix.EpollWait(w.fd, events[:], 0)
	for err == unix.EINTR {
		n, err = unix.EpollWait(w.fd, events[:], 0)
	}
	for _, e := range events[:max(0, n)] {
		enough = take(Event{At: e.Fd, Readable: e.Events&unix.EPOLLIN != 0}) || enough
	}
	return enough
}
