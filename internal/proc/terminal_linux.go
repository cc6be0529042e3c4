package proc

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// stopTime bounds the wait for this process to be stopped: nobody stops one whose
// group no shell looks after.
const stopTime = 500 * time.Millisecond

// OwnsTerminal tells whether f is a terminal and this process in its foreground.
func OwnsTerminal(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// lent is a terminal that a child has.
type lent struct {
	fd   int
	mode *term.State // as it was before, nil when that is not known
	back chan struct{}
	done chan struct{}
}

// foreground has a child start in the foreground of its terminal.
func (p *Process) foreground(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if f := p.spec.Terminal; f != nil {
		attr.Foreground, attr.Ctty = true, int(f.Fd())
	}
	return attr
}

// remember looks at the terminal before a child is started, who may change it at once.
func (p *Process) remember() {
	if p.spec.Terminal != nil {
		p.terminal = &lent{fd: int(p.spec.Terminal.Fd())}
		p.terminal.mode, _ = term.GetState(p.terminal.fd)
	}
}

// lend looks after the terminal of a child that was started.
func (p *Process) lend() {
	l := p.terminal
	if l == nil {
		return
	}
	l.back, l.done = make(chan struct{}), make(chan struct{})
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGCHLD)
	go func() {
		defer close(l.done)
		defer signal.Stop(changed)
		for {
			if p.stopped() {
				l.pause(p.leader.pid)
			}
			select {
			case <-changed:
			case <-l.back:
				return
			}
		}
	}()
}

// stopped tells whether the child was stopped since it was asked last.
func (p *Process) stopped() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.leader.pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}

// pause stops this process too, as its shell expects, and then goes on with the child.
func (l *lent) pause(child int) {
	l.claim(unix.Getpgrp())
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-on:
	case <-time.After(stopTime):
	}
	signal.Stop(on)
	if group, err := unix.IoctlGetInt(l.fd, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
		l.claim(child)
	}
	_ = unix.Kill(-child, unix.SIGCONT)
}

// claim puts a group into the foreground. For one that is not there itself that is a
// reason to be stopped, unless it holds the signal back.
func (l *lent) claim(group int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, old unix.Sigset_t
	set.Val[0] = 1 << (uint(unix.SIGTTOU) - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &set, &old) != nil {
		return
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	_ = unix.IoctlSetPointerInt(l.fd, unix.TIOCSPGRP, group)
}

// takeBack takes the terminal back, as it was before, from a child that has ended, or
// could not be started: it may have come as far as to have it.
func (p *Process) takeBack() {
	l := p.terminal
	if l == nil {
		return
	}
	if l.back != nil {
		close(l.back)
		<-l.done
	}
	l.claim(unix.Getpgrp())
	if l.mode != nil {
		_ = term.Restore(l.fd, l.mode)
	}
}
