package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
)

// onlyLooks reports whether a command changes nothing, so that nothing is lost when it
// ends where it is.
func onlyLooks(cmd *cobra.Command) bool {
	switch strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") {
	case "bento", "help", "version", "completion", "explain", "schema", "last", "plan", "why", "graph", "doctor",
		"dish list", "box list", "toolchain list", "toolchain check", "plugin list", "plugin info", "plugin test", "cache stats":
		return true
	case "artifacts":
		return !cmd.Flags().Changed("copy")
	}
	return false
}

// pipes are stdout and stderr. When nobody reads one of them any more, a command that
// only looks ends as SIGPIPE ends others, and one that runs tasks or changes files
// goes on without it.
type pipes struct {
	out, err pipe
	cancel   func()
	changes  atomic.Bool // the command does not only look
	gone     atomic.Pointer[pipe]
	failed   atomic.Pointer[error] // what else went wrong first
}

// newPipes returns the pipes of the program. cancel ends a command that only looks.
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

// Write succeeds, and writes nothing, where nobody reads.
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

// unread reports whether nobody reads what the command prints any more.
func (p *pipes) unread() bool { return p != nil && p.gone.Load() != nil }

// exitPipe is what a shell sees of a program that SIGPIPE has ended.
const exitPipe = 128 + 13

// judge returns the exit code of a program that would have ended with code: what it had
// to say is not all written if the disk was full. Where a broken pipe has ended it, it
// ends as that ends others, and judge does not return if the system has it so.
func (p *pipes) judge(code int) int {
	if gone := p.gone.Load(); gone != nil && !p.changes.Load() {
		dieOf(gone.file)
		return exitPipe
	}
	err := p.failed.Load()
	if err == nil || code == exitInterrupted || code == exitFault {
		return code
	}
	fmt.Fprintf(os.Stderr, "bento: error: not all of the output is written: %v\n", *err)
	return exitFault
}
