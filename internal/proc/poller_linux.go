package proc

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// epoll is an epoll(7) that Go's poller waits for. It is for one goroutine.
type epoll struct {
	fd   int
	file *os.File // fd
	raw  syscall.RawConn
}

// pollEvent is an event of a descriptor.
type pollEvent struct {
	At       int32 // the argument of Add
	Readable bool  // false: there is no more to read
}

// newPoller returns a Poller.
func newPoller() (*epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, true) // NewFile requires it
	w := &epoll{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if w.raw, err = w.file.SyscallConn(); err == nil {
		err = w.file.SetReadDeadline(time.Time{}) // fails when Go's poller refuses it
	}
	if err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

// Close closes the poller, but not the added descriptors.
func (w *epoll) Close() { w.file.Close() }

// Add registers a descriptor for one event.
func (w *epoll) Add(fd int, at int32) error {
	return unix.EpollCtl(w.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: at})
}

// Remove unregisters a descriptor without an event. Closing it does not suffice: another child that
// is being forked may have it open.
func (w *epoll) Remove(fd int) error { return unix.EpollCtl(w.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// maxEvents is more than any process adds.
const maxEvents = 8

// Wait passes events to take until take returns true. It returns an error when ctx is done or until
// is over, if not zero. After an error, or when reuse is false, the caller must close w.
func (w *epoll) Wait(ctx context.Context, until time.Time, take func(pollEvent) (enough bool)) (reuse bool, err error) {
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

func (w *epoll) look(take func(pollEvent) bool) (enough bool) {
	var events [maxEvents]unix.EpollEvent
	n, err := unix.EpollWait(w.fd, events[:], 0)
	for err == unix.EINTR {
		n, err = unix.EpollWait(w.fd, events[:], 0)
	}
	for _, e := range events[:max(0, n)] {
		enough = take(pollEvent{At: e.Fd, Readable: e.Events&unix.EPOLLIN != 0}) || enough
	}
	return enough
}
