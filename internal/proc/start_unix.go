//go:build unix

package proc

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// busyTime bounds the wait for a freshly written program to be closed by other
// children that were forked while it was open for writing.
const busyTime = 2 * time.Second

// fork starts the child as the leader of its own group.
func (p *Process) fork() error {
	attr := &os.ProcAttr{
		Dir:   p.spec.Dir,
		Env:   p.spec.Env,
		Files: append(p.io.child[:], p.spec.Files...),
		Sys:   p.sysProcAttr(),
	}
	if attr.Env == nil {
		attr.Env = []string{}
	}
	until := time.Now().Add(busyTime)
	for pause := time.Millisecond; ; pause *= 2 {
		err := p.start(attr)
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(until) {
			return p.explain(err)
		}
		time.Sleep(pause)
	}
}

// explain tells a missing working directory from a missing program: the kernel's
// answer is the same.
func (p *Process) explain(err error) error {
	if err == nil || p.spec.Dir == "" {
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

// signal sends sig to the group, to the child if it has left it, and to the
// descendants that have. A stopped process is woken, or it would not see it.
func (p *Process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	group := p.proc.Pid
	_ = unix.Kill(-group, sig)
	_ = unix.Kill(-group, unix.SIGCONT)
	if now, err := unix.Getpgid(group); err == nil && now != group {
		_ = unix.Kill(group, sig)
		_ = unix.Kill(group, unix.SIGCONT)
	}
	for _, d := range p.left() {
		if d.group != group {
			_ = unix.Kill(d.pid, sig)
			_ = unix.Kill(d.pid, unix.SIGCONT)
		}
	}
}

func (r *Result) fill(state *os.ProcessState) {
	if state == nil {
		r.ExitCode = -1
		return
	}
	r.ExitCode = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.ExitCode = 128 + int(ws.Signal())
		r.Signal = unix.SignalName(ws.Signal())
	}
	r.CPU = state.UserTime() + state.SystemTime()
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.MaxRSS = int64(ru.Maxrss) * rssUnit
	}
}
