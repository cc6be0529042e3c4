// Package proc runs child processes and leaves none behind.
//
// Every child leads its own process group, has an explicit environment, and on Linux is killed by the kernel when
// bento dies. A cancelled or timed-out child gets SIGTERM, a grace period, then SIGKILL, with all its descendants; so
// do descendants that are left after a child has exited. After Ctrl-C SIGINT and a grace period come first. On Linux
// that includes descendants that changed their session. The first Start makes this process the reaper of its orphans
// (prctl(2), PR_SET_CHILD_SUBREAPER), and the descendants of a child inherit a mark from it.
//
// A program that uses this package must start all its children with it: an unknown child in its own
// process group is treated as an orphan, and is ended with the last known child.
package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// DefaultGrace is the time between SIGINT, SIGTERM and SIGKILL when Spec.Grace is 0.
const DefaultGrace = 5 * time.Second

// Spec describes a child process.
type Spec struct {
	Argv []string // Argv[0] is an absolute path, unless Program is set
	// Program is the executed file, absolute or relative to Dir, with a separator; "": Argv[0].
	Program string
	Dir     string   // working directory; "": this process's
	Env     []string // the whole environment; nil is empty

	// Stdin is /dev/null when nil. The child inherits an *os.File; the content of any other reader
	// is copied, and Wait returns only after its Read returns.
	Stdin io.Reader
	// Stdout and Stderr are discarded when nil. The child inherits an *os.File; output to any other
	// writer is copied in chunks while it is printed. When both are the same value they share one
	// pipe, which keeps their order and serializes writes. After a failed Write the rest of the
	// output is discarded; the child continues.
	Stdout, Stderr io.Writer
	// Files become the descriptors 3, 4 and so on; not on Windows.
	Files []*os.File

	// Terminal, when set, is lent to the child: the child's group is in the foreground until the
	// child has ended, and gets Ctrl-C in place of this process. When Ctrl-Z stops the child, this
	// process stops too. See OwnsTerminal; on Linux only.
	Terminal *os.File

	// Gentle ends the child with SIGTERM in place of SIGKILL when this process is killed: it has something of its
	// own to restore. On Linux only.
	Gentle bool

	// Mounts starts the child in its own mount namespace, where it may mount, and in a user
	// namespace unless this process is root; on Linux only. The system may forbid it.
	Mounts bool

	// Entered, when set, is called in Start when the child has executed the program and stands before its first
	// instruction. The calling thread traces the child (ptrace(2)) until Entered ends that: it must let the child go or
	// kill it. pidfd is -1 if the kernel has none. On Linux only; the system may forbid it.
	Entered func(pid, pidfd int)

	// Engine says that the child asks an engine, such as podman, to run processes. Those outside of the child's group are
	// the engine's: no signal is sent to them, and Wait does not wait for them.
	Engine bool

	// Beside says that this process has descendants which Start has not started, such as daemons of other tests: no orphan without
	// the mark of the child is taken for one of it.
	Beside bool

	Timeout time.Duration // from the start; 0: no timeout
	Grace   time.Duration // between two signals; 0: DefaultGrace
}

func (s *Spec) check() error {
	if len(s.Argv) == 0 {
		return fmt.Errorf("no command given")
	}
	if s.Program == "" && !filepath.IsAbs(s.Argv[0]) {
		return fmt.Errorf("command %q: not an absolute path", s.Argv[0])
	}
	return nil
}

// OwnsTerminal reports whether f is a terminal and this process is in its foreground.
func OwnsTerminal(f *os.File) bool { return ownsTerminal(f) }

// program returns the path of the executed file.
func (s *Spec) program() string { return cmp.Or(s.Program, s.Argv[0]) }

func (s *Spec) grace() time.Duration { return cmp.Or(max(0, s.Grace), DefaultGrace) }

// Result describes how a child ended.
type Result struct {
	ExitCode int    // 128+n when signal n ended it; -1 when it did not start
	Signal   string // the name of the signal that ended it, such as "SIGKILL", or ""
	TimedOut bool   // it was ended at Timeout
	Canceled bool   // it was ended, or not started, because the context was done
	Killed   bool   // it, or a descendant, was still there after its grace and got SIGKILL
	Duration time.Duration
	CPU      time.Duration // user and system time, with reaped descendants
	// MaxRSS is the peak memory in bytes of the largest process. Linux includes the memory of bento
	// at the start of the child, so small values are bento's own.
	MaxRSS int64
}

// Run runs a child to its end. It returns an error when the child could not be started, which wraps
// an *fs.PathError with the file; the Result describes how the child ended. When ctx is done the
// child gets SIGTERM, and SIGKILL after Grace. If the cause of ctx is ErrInterrupt, it first gets SIGINT,
// and SIGTERM after Grace, or as soon as only its descendants are left.
func Run(ctx context.Context, s Spec) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Canceled: true}, nil
	}
	p, err := StartUnwatched(s)
	if err != nil {
		return Result{ExitCode: -1}, err
	}
	return p.Wait(ctx), nil
}
