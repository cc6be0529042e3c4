package proc

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// atLeader identifies the child itself in poll events; other numbers are indices of stdio.outputs.
const atLeader = -1

// waitIdle waits for an unwatched child without a goroutine for each pipe: most tasks print
// nothing. done reports that a cause ended the wait; unless the child has exited, the caller
// watches it from then on.
func (p *Process) waitIdle(ctx context.Context) (c cause, done bool) {
	if p.watched.Load() || p.leader.fd < 0 {
		return 0, false
	}
	waiting.Add(1)
	defer waiting.Add(-1)
	var until time.Time
	if p.spec.Timeout > 0 {
		until = p.began.Add(p.spec.Timeout)
	}
	if p.endsSoon(until) {
		return p.exit(), true
	}
	p.io.letEnd() // saves one descriptor for each output
	w, err := p.polled()
	if err != nil {
		return 0, false
	}
	reuse, err := w.Wait(ctx, until, p.news)
	if reuse && p.forsake(w) {
		kin.pollers.Put(w)
	} else {
		w.Close()
	}
	switch {
	case err == nil:
		return p.exit(), true
	case ctx.Err() != nil:
		return canceled, true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return late, true
	default:
		return 0, false
	}
}

// exit records the exit of the leader.
func (p *Process) exit() cause {
	p.io.letEnd()
	p.look(0) // close the pipes that no process prints to
	unix.Close(p.leader.fd)
	p.over()
	return exited
}

// soon is the time that a thread waits for a child before Go's poller does.
const soon = 5 * time.Millisecond

// waiting counts the unwatched children that a thread waits for.
var waiting atomic.Int32

// endsSoon waits shortly for a child and reports whether it has exited. A thread that the kernel
// wakes continues at once; Go's poller wakes another thread, which takes as long as many a task. A
// waiting thread keeps others from running Go, so the number of such waits is limited to the number
// of running threads. latest is the timeout, zero for none.
func (p *Process) endsSoon(latest time.Time) bool {
	if int(waiting.Load()) > runtime.GOMAXPROCS(0) {
		return false
	}
	until := time.Now().Add(soon)
	if !latest.IsZero() && latest.Before(until) {
		until = latest
	}
	for {
		rest := time.Until(until)
		switch {
		case rest <= 0:
			return false
		case p.look(rest):
			return true
		}
		runtime.Gosched() // so that its output is copied
	}
}

// look waits at most within for events of the child, handles them, and reports whether the child has
// exited.
func (p *Process) look(within time.Duration) (over bool) {
	var list [1 + maxOutputs]unix.PollFd
	var at [1 + maxOutputs]int32
	list[0], at[0] = unix.PollFd{Fd: int32(p.leader.fd), Events: unix.POLLIN}, atLeader
	n := 1
	for i := range p.io.outputs {
		if o := &p.io.outputs[i]; o.idle() {
			list[n], at[n] = unix.PollFd{Fd: int32(o.end.FD), Events: unix.POLLIN}, int32(i)
			n++
		}
	}
	limit := unix.NsecToTimespec(int64(within))
	if happened, err := unix.Ppoll(list[:n], &limit, nil); err != nil || happened == 0 {
		return false
	}
	for i, e := range list[:n] {
		if e.Revents != 0 {
			over = p.news(pollEvent{At: at[i], Readable: e.Revents&unix.POLLIN != 0}) || over
		}
	}
	return over
}

// polled returns a poller for the child.
func (p *Process) polled() (w *epoll, err error) {
	w, _ = kin.pollers.Get().(*epoll)
	if w == nil {
		if w, err = newPoller(); err != nil {
			return nil, err
		}
	}
	for i := range p.io.outputs {
		if o := &p.io.outputs[i]; err == nil && o.idle() {
			err = w.Add(o.end.FD, int32(i))
		}
	}
	if err == nil {
		err = w.Add(p.leader.fd, atLeader)
	}
	if err != nil {
		w.Close()
	}
	return w, err
}

// news handles an event of a poller, and reports whether the child has exited. It starts copying an
// output that has content.
func (p *Process) news(e pollEvent) (over bool) {
	switch {
	case e.At == atLeader:
		return true
	case e.Readable:
		p.io.copy(&p.io.outputs[e.At])
	default: // every process that could print to it has ended
		p.io.outputs[e.At].close()
	}
	return false
}

// forsake removes an exited child from w, and reports whether w can be reused.
func (p *Process) forsake(w *epoll) bool {
	for i := range p.io.outputs {
		if o := &p.io.outputs[i]; o.idle() && w.Remove(o.end.FD) != nil {
			return false
		}
	}
	return true
}

// await waits for the child to exit without reaping it.
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

// poll waits without a thread until the child's pidfd reports its exit. It reports whether that
// worked.
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
