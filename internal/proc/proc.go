// Package proc runs child processes and leaves none behind.
//
// Every child leads a process group of its own, has an explicit environment, and
// on Linux is killed by the kernel when bento dies. A child that is cancelled or
// too slow gets SIGTERM, a grace, then SIGKILL, with all its descendants; what a
// child leaves behind when it exits by itself gets the same. On Linux that holds
// for descendants that changed their session too: the first Start makes this
// process the reaper of its orphans (prctl(2), PR_SET_CHILD_SUBREAPER), and every
// child carries a mark that its descendants inherit.
//
// A program that uses this package starts all its children with it: an unknown
// child in a process group of its own counts as an orphan and is ended with the
// last known one.
package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/proc/terminal"
)

// DefaultGrace is the time between SIGTERM and SIGKILL when a Spec names none.
const DefaultGrace = 5 * time.Second

// Spec describes a child process.
type Spec struct {
	Argv []string // Argv[0] is an absolute path, unless Program is set
	// Program is the file that is executed, absolute or relative to Dir, with a
	// separator; "": Argv[0].
	Program string
	Dir     string   // working directory; "": this process's
	Env     []string // the whole environment; nil is an empty one

	// Stdin is /dev/null when nil. An *os.File is handed down; of any other reader
	// the content is copied, and Wait returns only after its Read does.
	Stdin io.Reader
	// Stdout and Stderr are discarded when nil. An *os.File is handed down; to any
	// other writer output is copied, in chunks as it comes. When both are the same
	// value they share one pipe, which keeps their order and makes writes serial.
	// A writer that fails is written to no more; the child does not notice.
	Stdout, Stderr io.Writer
	// Files are handed down as descriptors 3, 4 and so on; not on Windows.
	Files []*os.File

	// Terminal, when set, is handed over: the child's group is in its foreground until
	// the child has ended, and gets Ctrl-C in place of this process. When it is
	// stopped by Ctrl-Z this process stops with it. See OwnsTerminal; on
	// Linux only.
	Terminal *os.File

	Timeout time.Duration // from the start; 0: none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0: DefaultGrace
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

// OwnsTerminal tells whether f is a terminal and this process in its foreground.
func OwnsTerminal(f *os.File) bool { return terminal.Owned(f) }

// program is the path of the file that is executed.
func (s *Spec) program() string { return cmp.Or(s.Program, s.Argv[0]) }

func (s *Spec) grace() time.Duration { return cmp.Or(max(0, s.Grace), DefaultGrace) }

// Result is how a child ended.
type Result struct {
	ExitCode int    // 128+n when signal n ended it; -1 when it never ran
	Signal   string // its name, such as "SIGKILL", or ""
	TimedOut bool   // ended because Timeout was over
	Canceled bool   // ended, or not begun, because the context was done
	Duration time.Duration
	CPU      time.Duration // user and system, with descendants that were waited for
	// MaxRSS is the peak memory in bytes of the largest process. Linux counts what
	// bento itself had at the start of the child, so small values are bento's own.
	MaxRSS int64
}

// Run runs a child to its end. The error says that it could not be started, and
// wraps an *fs.PathError that names the file; how the child ended is in the
// Result. When ctx is done the child is ended with SIGTERM, Grace, SIGKILL.
func Run(ctx context.Context, s Spec) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Canceled: true}, nil
	}
	p, err := start(s)
	if err != nil {
		return Result{ExitCode: -1}, err
	}
	return p.Wait(ctx), nil
}
