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

// stopTime is the longest wait for this process to stop: it does not stop when no shell controls
// its group.
const stopTime = 500 * time.Millisecond

// ownsTerminal reports whether f is a terminal and this process in its foreground.
func ownsTerminal(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// lentTerminal is a terminal that a child uses. A nil one does nothing.
type lentTerminal struct {
	fd   int
	mode *term.State // mode before the child; nil when unknown
	back chan struct{}
	done chan struct{}
}

// rememberTerminal saves the mode of a terminal before a child starts, which may change it at once.
func rememberTerminal(f *os.File) *lentTerminal {
	l := &lentTerminal{fd: int(f.Fd())}
	l.mode, _ = term.GetState(l.fd)
	return l
}

// Lend watches a started child that uses the terminal, in the foreground and as the leader of its
// group.
func (l *lentTerminal) Lend(child int) {
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

// stopped reports whether a child was stopped since the last call.
func stopped(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}

// pause also stops this process, as its shell expects, and continues the child afterwards.
func (l *lentTerminal) pause(child int) {
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

// claim puts a group into the foreground. It blocks the signal that would stop a background process
// for this.
func (l *lentTerminal) claim(group int) {
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

// TakeBack restores the terminal after a child has ended or could not be started: it may have
// become the foreground group before.
func (l *lentTerminal) TakeBack() {
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
