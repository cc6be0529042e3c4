// Package terminal gives a terminal to a child process, and takes it back.
package terminal

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

// Owned tells whether f is a terminal and this process in its foreground.
func Owned(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Lent is a terminal that a child gets. The nil one is none.
type Lent struct {
	fd   int
	mode *term.State // as it was before, nil when that is not known
	back chan struct{}
	done chan struct{}
}

// Remember looks at a terminal before a child is started, who may change it at once.
func Remember(f *os.File) *Lent {
	l := &Lent{fd: int(f.Fd())}
	l.mode, _ = term.GetState(l.fd)
	return l
}

// Lend looks after the terminal of a child that was started, in the foreground and as
// the leader of its group.
func (l *Lent) Lend(child int) {
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
			if stopped(child) {
				l.pause(child)
			}
			select {
			case <-changed:
			case <-l.back:
				return
			}
		}
	}()
}

// stopped tells whether a child was stopped since it was asked last.
func stopped(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}

// pause stops this process too, as its shell expects, and then goes on with the child.
func (l *Lent) pause(child int) {
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
func (l *Lent) claim(group int) {
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

// TakeBack takes the terminal back, as it was before, from a child that has ended, or
// could not be started: it may have come as far as to have it.
func (l *Lent) TakeBack() {
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
