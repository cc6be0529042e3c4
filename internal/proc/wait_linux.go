package proc

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for a child to exit or to print something, without a goroutine for
// each. Most tasks print nothing: for them one goroutine is woken once.
type poller struct {
	fd   int
	file *os.File // the same: Go's own poller waits for it
	raw  syscall.RawConn
}

// atLeader stands for the child itself among what a poller tells of; other numbers
// are places in stdio.outputs.
const atLeader = -1

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, true) // for NewFile, which asks
	w := &poller{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if w.raw, err = w.file.SyscallConn(); err == nil {
		err = w.file.SetReadDeadline(time.Time{}) // fails when Go's poller does not take it
	}
	if err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

// add has w tell once of a descriptor.
func (w *poller) add(fd int, at int32) error {
	return unix.EpollCtl(w.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: at})
}

// follow has w tell of p.
func (w *poller) follow(p *Process) error {
	for i := range p.io.outputs {
		if err := w.add(p.io.outputs[i].end.fd, int32(i)); err != nil {
			return err
		}
	}
	return w.add(p.leader.fd, atLeader)
}

// take looks at what has happened, and tells whether p has exited. Copying begins for
// the output that there is something of.
func (w *poller) take(p *Process) (over bool) {
	var events [4]unix.EpollEvent
	n, err := unix.EpollWait(w.fd, events[:], 0)
	for err == unix.EINTR {
		n, err = unix.EpollWait(w.fd, events[:], 0)
	}
	for _, e := range events[:max(0, n)] {
		switch {
		case e.Fd == atLeader:
			over = true
		case e.Events&unix.EPOLLIN != 0:
			p.io.copy(&p.io.outputs[e.Fd])
		default: // all who could have printed to it are gone
			p.io.outputs[e.Fd].close()
		}
	}
	return over
}

// leave has w tell nothing more of p, which has exited, and tells whether it is as good
// as new: another child that is being forked may have kept an output of p open, and that
// it is closed must not be told of the next one's.
func (w *poller) leave(p *Process) bool {
	for i := range p.io.outputs {
		if o := &p.io.outputs[i]; o.file == nil && !o.over && unix.EpollCtl(w.fd, unix.EPOLL_CTL_DEL, o.end.fd, nil) != nil {
			return false
		}
	}
	return p.spec.Timeout <= 0 || w.file.SetReadDeadline(time.Time{}) == nil
}

// waitIdle waits for a child that is not watched. done tells that there was an end to
// that; when it is not the child's, it has to be watched from then on.
func (p *Process) waitIdle(ctx context.Context) (c cause, done bool) {
	if p.watched.Load() || p.leader.fd < 0 {
		return 0, false
	}
	w, _ := kin.pollers.Get().(*poller)
	if w == nil {
		var err error
		if w, err = newPoller(); err != nil {
			return 0, false
		}
	}
	if w.follow(p) != nil {
		w.file.Close()
		return 0, false
	}
	if p.spec.Timeout > 0 {
		_ = w.file.SetReadDeadline(p.began.Add(p.spec.Timeout))
	}
	stop := context.AfterFunc(ctx, func() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) })
	err := w.raw.Read(func(uintptr) bool { return w.take(p) })
	if untouched := stop(); err == nil && untouched && w.leave(p) {
		kin.pollers.Put(w)
	} else {
		w.file.Close()
	}
	switch {
	case err == nil:
		unix.Close(p.leader.fd)
		p.over()
		return exited, true
	case ctx.Err() != nil:
		return canceled, true
	default:
		return late, true
	}
}

// await waits for the child to exit and leaves it unreaped.
func (p *Process) await() *status {
	if p.leader.fd >= 0 && p.poll() {
		return nil
	}
	for {
		err := unix.Waitid(unix.P_PID, p.leader.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return nil
		}
	}
}

// poll waits without a thread until the child's descriptor tells of its exit. It
// tells whether that went well.
func (p *Process) poll() bool {
	_ = unix.SetNonblock(p.leader.fd, true)
	f := os.NewFile(uintptr(p.leader.fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	exited := func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return n > 0 || err != nil && err != unix.EINTR
	}
	return raw.Read(exited) == nil
}
