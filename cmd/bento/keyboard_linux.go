package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
)

// background is the time between two looks at a terminal whose foreground is another's.
const background = time.Second

// keyboard is a terminal that passes on every key at once and shows none. Ctrl-C, Ctrl-Z and the
// like stay signals.
type keyboard struct {
	file   *os.File
	before unix.Termios
	pause  func() // before this process stops
	resume func() // after it continues

	stop context.CancelFunc
	wake *os.File // its end ends the reading
	wait sync.WaitGroup
}

// openKeyboard calls pressed with the keys of a terminal until Close, never twice at once. What was
// typed before counts too.
func openKeyboard(file *os.File, pressed func([]byte), pause, resume func()) (*keyboard, error) {
	k := &keyboard{file: file, pause: pause, resume: resume}
	before, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	k.before = *before
	read, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if err := k.listen(); err != nil {
		read.Close()
		wake.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop, k.wake = stop, wake
	k.wait.Go(func() {
		defer read.Close()
		k.read(int(read.Fd()), pressed)
	})
	k.wait.Go(func() { k.suspend(ctx) })
	return k, nil
}

// listen changes the mode of the terminal.
func (k *keyboard) listen() error {
	mode := k.before
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(k.file.Fd()), unix.TCSETSW, &mode)
}

// restore sets the mode that the terminal had.
func (k *keyboard) restore() {
	if proc.OwnsTerminal(k.file) { // else this would stop the process
		_ = unix.IoctlSetTermios(int(k.file.Fd()), unix.TCSETSW, &k.before)
	}
}

// Close ends the reading and restores the mode.
func (k *keyboard) Close() {
	k.stop()
	k.wake.Close()
	k.wait.Wait()
	k.restore()
}

// read passes keys on until the other end of wake is closed or the terminal is.
func (k *keyboard) read(wake int, pressed func([]byte)) {
	buf := make([]byte, 256)
	fds := []unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}, {Fd: int32(k.file.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || fds[0].Revents != 0:
			return
		case !proc.OwnsTerminal(k.file):
			// What is typed is for another; reading it would stop this process.
			if n, err := unix.Poll(fds[:1], int(background.Milliseconds())); n > 0 || err != nil && err != unix.EINTR {
				return
			}
			continue
		}
		n, err := unix.Read(int(k.file.Fd()), buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if n <= 0 {
			return // the terminal is gone; a signal says so too
		}
		pressed(buf[:n])
	}
}

// suspend restores the mode of the terminal while Ctrl-Z stops this process.
func (k *keyboard) suspend(ctx context.Context) {
	signals, on := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTSTP)
	defer signal.Stop(signals)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		k.pause()
		k.restore()
		select {
		case <-on: // an older one
		default:
		}
		// Another thread may take the signal, and this one run on for a moment.
		if unix.Kill(unix.Getpid(), unix.SIGSTOP) == nil {
			<-on
		}
		if proc.OwnsTerminal(k.file) {
			_ = k.listen()
		}
		k.resume()
	}
}
