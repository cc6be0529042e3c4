package proc

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc/poller"
)

// atLeader stands for the child itself among what a poller tells of; other numbers
// are places in stdio.outputs.
const atLeader = -1

// waitIdle waits for a child that is not watched, without a goroutine for each of its
// descriptors: most tasks print nothing. done tells that there was an end to that; when
// it is not the child's, it has to be watched from then on.
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
	p.io.letEnd() // one descriptor less for each
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

// exit takes in that the leader has exited.
func (p *Process) exit() cause {
	p.io.letEnd()
	p.look(0) // closes what nobody prints to any more
	unix.Close(p.leader.fd)
	p.over()
	return exited
}

// soon is how long a thread of its own waits for a child, before Go's poller does.
const soon = 5 * time.Millisecond

// waiting counts the children that are waited for without being watched.
var waiting atomic.Int32

// endsSoon waits a little for a child that may be short, and tells whether it has exited.
// A thread that the kernel wakes goes on at once; Go's poller wakes another one, which
// takes as long as many a task does. Such a thread keeps others from running Go as long
// as it waits, so no more children are waited for like that than can run at once.
// latest is when its time is up, zero for never.
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
		runtime.Gosched() // so that what was printed is copied
	}
}

// look takes in what happens next to the child within a time, and tells whether that is
// its end.
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
			over = p.news(poller.Event{At: at[i], Readable: e.Revents&unix.POLLIN != 0}) || over
		}
	}
	return over
}

// polled gives a poller that tells of the child.
func (p *Process) polled() (w *poller.Poller, err error) {
	w, _ = kin.pollers.Get().(*poller.Poller)
	if w == nil {
		if w, err = poller.New(); err != nil {
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

// news takes in what a poller tells, and whether that is the end of the child. Copying
// begins for the output that there is something of.
func (p *Process) news(e poller.Event) (over bool) {
	switch {
	case e.At == atLeader:
		return true
	case e.Readable:
		p.io.copy(&p.io.outputs[e.At])
	default: // all who could have printed to it are gone
		p.io.outputs[e.At].close()
	}
	return false
}

// forsake has w tell nothing more of a child that has exited, and tells whether it is
// as good as new.
func (p *Process) forsake(w *poller.Poller) bool {
	for i := range p.io.outputs {
		if o := &p.io.outputs[i]; o.idle() && w.Remove(o.end.FD) != nil {
			return false
		}
	}
	return true
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
