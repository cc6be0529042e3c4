//go:build unix

package proc

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// busyTime is the longest wait for a freshly written program that other children still have open
// for writing because they were forked meanwhile.
const busyTime = 2 * time.Second

// fork starts the child as the leader of its own group.
func (p *Process) fork() error {
	attr := &syscall.ProcAttr{Dir: p.spec.Dir, Env: p.spec.Env, Sys: p.sysProcAttr()}
	for _, e := range p.io.child {
		attr.Files = append(attr.Files, uintptr(e.FD))
	}
	for _, f := range p.spec.Files {
		attr.Files = append(attr.Files, f.Fd())
	}
	defer runtime.KeepAlive(p)
	until := time.Now().Add(busyTime)
	for pause := time.Millisecond; ; pause *= 2 {
		err := p.start(attr)
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(until) {
			return p.explain(err)
		}
		time.Sleep(pause)
	}
}

// explain distinguishes a missing working directory from a missing program: the kernel's error is
// the same.
func (p *Process) explain(err error) error {
	if err == nil {
		return nil
	}
	if err = (&fs.PathError{Op: "fork/exec", Path: p.spec.program(), Err: err}); p.spec.Dir == "" {
		return err
	}
	dir, statErr := os.Stat(p.spec.Dir)
	if statErr == nil && !dir.IsDir() {
		statErr = syscall.ENOTDIR
	}
	if statErr != nil {
		var errno syscall.Errno
		errors.As(statErr, &errno)
		return &fs.PathError{Op: "chdir", Path: p.spec.Dir, Err: errno}
	}
	return err
}

// signal sends sig to the group, to the child if it has left the group, and to descendants that
// have. It continues a stopped process, which would not handle the signal.
func (p *Process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.toGroup(sig)
	group := p.leader.pid
	for _, d := range p.left() {
		if d.Group != group {
			_ = unix.Kill(d.Pid, sig)
			_ = unix.Kill(d.Pid, unix.SIGCONT)
		}
	}
}

// signalGroup is signal without the descendants that have left the group.
func (p *Process) signalGroup(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.toGroup(sig)
	}
}

// toGroup sends sig to the group, and to the child if it has left it. The caller holds p.mu.
func (p *Process) toGroup(sig syscall.Signal) {
	group := p.leader.pid
	_ = unix.Kill(-group, sig)
	_ = unix.Kill(-group, unix.SIGCONT)
	if now, err := unix.Getpgid(group); err == nil && now != group {
		_ = unix.Kill(group, sig)
		_ = unix.Kill(group, unix.SIGCONT)
	}
}

// status is the exit status and the resource usage of a child.
type status struct {
	wait  syscall.WaitStatus
	usage syscall.Rusage
}

// reap waits for a child to exit and returns its status, nil when there is none.
func reap(pid int) *status {
	var s status
	for {
		_, err := syscall.Wait4(pid, &s.wait, 0, &s.usage)
		switch err {
		case nil:
			return &s
		case syscall.EINTR:
		default:
			return nil
		}
	}
}

func (r *Result) fill(s *status) {
	if s == nil {
		r.ExitCode = -1
		return
	}
	r.ExitCode = s.wait.ExitStatus()
	if s.wait.Signaled() {
		r.ExitCode = 128 + int(s.wait.Signal())
		r.Signal = unix.SignalName(s.wait.Signal())
	}
	r.CPU = time.Duration(s.usage.Utime.Nano() + s.usage.Stime.Nano())
	r.MaxRSS = int64(s.usage.Maxrss) * rssUnit
}
