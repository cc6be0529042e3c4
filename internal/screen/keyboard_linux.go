package screen

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

// background is the interval of checks for a terminal that another process has in the foreground.
const background = time.Second

// Keyboard is a terminal in a mode that passes on every key at once and echoes none. Ctrl-C, Ctrl-Z and
// similar keys still send signals.
type Keyboard struct {
	file   *os.File
	before unix.Termios
	pause  func() // before this process stops
	resume func() // after it continues

	stop context.CancelFunc
	wake *os.File // closing it ends the goroutine that reads
	wait sync.WaitGroup
}

// OpenKeyboard calls pressed with the keys of a terminal until Close, never concurrently. It includes keys
// that were typed before. It calls pause before Ctrl-Z stops this process, and resume after it continues.
func OpenKeyboard(file *os.File, pressed func([]byte), pause, resume func()) (*Keyboard, error) {
	k := &Keyboard{file: file, pause: pause, resume: resume}
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

// listen sets the mode of the terminal in which keys arrive at once and without echo.
func (k *Keyboard) listen() error {
	mode := k.before
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(k.file.Fd()), unix.TCSETSW, &mode)
}

// restore sets the mode that the terminal had.
func (k *Keyboard) restore() {
	if proc.OwnsTerminal(k.file) { // in the background, the call would stop the process
		_ = unix.IoctlSetTermios(int(k.file.Fd()), unix.TCSETSW, &k.before)
	}
}

// Close ends the goroutine that reads, and restores the mode.
func (k *Keyboard) Close() {
	k.stop()
	k.wake.Close()
	k.wait.Wait()
	k.restore()
}

// read passes keys on until the other end of wake or the terminal is closed.
func (k *Keyboard) read(wake int, pressed func([]byte)) {
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
			// The keys are for another process, and a read would stop this one.
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
			return // the terminal is closed, which also sends a signal
		}
		pressed(buf[:n])
	}
}

// suspend restores the mode of the terminal while Ctrl-Z stops this process.
func (k *Keyboard) suspend(ctx context.Context) {
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
		case <-on: // drops an older signal
		default:
		}
		// Another thread may receive the signal, so this thread may continue for a moment.
		if unix.Kill(unix.Getpid(), unix.SIGSTOP) == nil {
			<-on
		}
		if proc.OwnsTerminal(k.file) {
			_ = k.listen()
		}
		k.resume()
	}
}
