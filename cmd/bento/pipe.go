package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
)

// pipes are stdout and stderr. If the reader of one is gone, a command that only reads ends by SIGPIPE. A
// command that runs tasks or changes files continues without the reader.
type pipes struct {
	out, err pipe
	cancel   func()
	changes  atomic.Bool // the command runs tasks or changes files
	gone     atomic.Pointer[pipe]
	failed   atomic.Pointer[error] // the first other error
}

// newPipes returns the pipes of the program. cancel ends a command that only reads.
func newPipes(cancel func()) *pipes {
	p := &pipes{cancel: cancel}
	p.out, p.err = pipe{file: os.Stdout, all: p}, pipe{file: os.Stderr, all: p}
	return p
}

// pipe is one of the pipes.
type pipe struct {
	file   *os.File
	all    *pipes
	broken atomic.Bool
}

// Write succeeds without writing if the reader is gone.
func (w *pipe) Write(p []byte) (int, error) {
	ending := w.all.gone.Load() != nil && !w.all.changes.Load()
	if ending || w.broken.Load() {
		return len(p), nil
	}
	n, err := w.file.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		w.broken.Store(true)
		w.all.gone.CompareAndSwap(nil, w)
		if !w.all.changes.Load() {
			w.all.cancel()
		}
		return len(p), nil
	case err != nil:
		w.all.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// unread reports whether a reader of the command's output is gone.
func (p *pipes) unread() bool { return p != nil && p.gone.Load() != nil }

// exitPipe is the exit code that a shell reports for SIGPIPE.
const exitPipe = 128 + 13

// judge returns the exit code of a command that ended with code: exitFault if a write of its output
// failed. After a broken pipe, judge ends a command that only reads by SIGPIPE; it returns exitPipe on
// systems without that signal.
func (p *pipes) judge(code int) int {
	if gone := p.gone.Load(); gone != nil && !p.changes.Load() {
		dieOf(gone.file)
		return exitPipe
	}
	err := p.failed.Load()
	if err == nil || code == exitInterrupted || code == exitFault {
		return code
	}
	fmt.Fprintf(os.Stderr, "bento: error: the output is incomplete: %v\n", *err)
	return exitFault
}
