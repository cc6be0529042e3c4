package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// Launcher starts the process behind a plugin: a real one (Command), or a pipe to one in
// memory.
type Launcher interface {
	// Launch starts a process whose standard error goes to stderr.
	Launch(ctx context.Context, stderr io.Writer) (*Stream, error)
}

// Stream is a launched process: its two streams and its end.
type Stream struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	Pid    int             // 0 for none
	Exited <-chan struct{} // closed when the process itself has ended
	// Unread returns how many of the bytes written to Stdin the process has not read, 0 if that is
	// unknown. It may be nil.
	Unread func() int
	// End asks the process and its descendants to end, or with kill ends them.
	End func(kill bool)
	// Wait waits for Exited, ends the remaining descendants, and returns how the process
	// ended ("exit status 1"). It is called once.
	Wait func() string
}

// Command launches an executable.
type Command struct {
	Argv []string // Argv[0] absolute
	// SHA256, when set, is the digest in hexadecimal of the content to execute: Launch
	// executes a private copy that no other user can change. It fails with an
	// *adapters.Failure when the file has another digest.
	SHA256 string
	// Check, if set, is called right before each start. If it fails, the start returns its error.
	Check func() error
	Dir   string   // "": bento's own
	Env   []string // the whole environment
	// Sandbox confines it unless nil. A kernel without the means runs it unconfined.
	Sandbox *Sandbox
}

// Launch starts the executable with pipes as standard input and output, unless ctx is cancelled.
func (c *Command) Launch(ctx context.Context, stderr io.Writer) (*Stream, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		stdin.Close()
		return nil, err
	}
	p, err := c.start(ctx, proc.Spec{Argv: c.Argv, Dir: c.Dir, Env: c.Env, Stdin: childIn, Stdout: childOut, Stderr: stderr})
	childIn.Close()
	childOut.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, explainStart(c.Argv[0], err)
	}
	return &Stream{
		Stdin:  stdin,
		Stdout: stdout,
		Pid:    p.Pid(),
		Exited: p.Exited(),
		Unread: UnreadOfPipe(stdin),
		End: func(kill bool) {
			if kill {
				p.Kill()
			} else {
				p.Terminate()
			}
		},
		Wait: func() string { return ending(p.Wait(context.Background())) },
	}, nil
}

// confinable is a process that was started, confined or not.
type confinable interface {
	Pid() int
	Exited() <-chan struct{}
	Terminate()
	Kill()
	Wait(context.Context) proc.Result
}

// start starts the process, in the sandbox if it has one.
func (c *Command) start(ctx context.Context, s proc.Spec) (confinable, error) {
	if c.Check != nil && !errors.Is(ctx.Err(), context.Canceled) {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return nil, err
	}
	if c.SHA256 != "" {
		pinned, err := pinned(c.Argv[0], c.SHA256, adapters.Environ(c.Env))
		if err != nil {
			return nil, err
		}
		defer pinned.Close()
		s.Program, s.Files = inherited, []*os.File{pinned}
	}
	if c.Sandbox != nil {
		return c.Sandbox.start(s)
	}
	return proc.Start(s)
}

// explainStart adds what the kernel does not report: which file is missing, or why a file
// is not a program.
func explainStart(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: it is neither a program for this machine nor a script that begins with \"#!\"", err)
	case errors.Is(err, fs.ErrPermission):
		if fi, statErr := os.Stat(path); statErr == nil && fi.Mode()&0o111 == 0 {
			return fmt.Errorf("%w: it is not executable, as chmod +x %s makes it", err, path)
		}
	case errors.Is(err, fs.ErrNotExist):
		if line := shebang(path); line != "" {
			return fmt.Errorf("%w: the interpreter of its first line, %.80q", err, line)
		}
	}
	return err
}

// shebang returns the first line of a script, "" for other files.
func shebang(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, 256)
	n, _ := io.ReadFull(f, start)
	line, _, _ := strings.Cut(string(start[:n]), "\n")
	if !strings.HasPrefix(line, "#!") {
		return ""
	}
	return line
}

func ending(r proc.Result) string {
	if r.Signal != "" {
		return "killed by " + r.Signal
	}
	return fmt.Sprintf("exit status %d", r.ExitCode)
}
