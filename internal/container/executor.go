package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
)

// Executor executes the commands of one task: the task itself and, while that runs, what asks whether it is ready.
type Executor struct {
	Host      *Host
	Container *dish.Container
	Digest    string        // of the image, from ImageOf
	Reach     *record.Reach // what the task may use
	Inputs    bool          // it can read only its inputs
	Network   bool
	Installed bool   // it needs an install of this machine
	Task      string // its id, for people

	mu      sync.Mutex
	running *request // nil while there is no container
}

// Start implements action.Executor.
func (x *Executor) Start(ctx context.Context, c *action.Command) (action.Execution, error) {
	if c.Inputs == nil && c.Outputs == nil {
		return x.inRunning(ctx, c)
	}
	log := c.Stderr
	if log == nil {
		log = io.Discard
	}
	img, err := x.Host.image(ctx, x.Container, x.Digest, log)
	if err != nil {
		return action.Execution{}, err
	}
	temp, err := os.MkdirTemp("", "bento-container-")
	if err != nil {
		return action.Execution{}, fmt.Errorf("the container needs a temporary directory: %w", err)
	}
	execution, err := x.start(ctx, c, img, temp)
	if err != nil {
		removeAll(temp)
	}
	return execution, err
}

// start starts the container of c, with a temporary directory that Wait removes.
func (x *Executor) start(ctx context.Context, c *action.Command, img *image, temp string) (action.Execution, error) {
	r, err := x.request(c, img, temp)
	if err != nil {
		return action.Execution{}, err
	}
	claim, err := x.Host.claim(r)
	if err != nil {
		return action.Execution{}, fmt.Errorf("the container cannot be noted, so that nothing would remove it: %w", err)
	}
	errs := &tail{to: c.Stderr}
	spec := proc.Spec{
		Argv: r.argv(), Dir: temp, Env: r.engine.env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: errs,
		Terminal: c.Terminal, Timeout: c.Timeout, Grace: c.Grace, Engine: true,
	}
	if c.Terminal != nil {
		spec.Stderr = c.Stderr // the very file, which the child inherits
	}
	p, err := proc.StartUnwatched(spec)
	if err != nil {
		_ = claim.Remove()
		return action.Execution{}, fmt.Errorf("%s cannot be run: %w", r.engine.Name, err)
	}
	x.set(r)
	ctx, cancel := context.WithCancel(ctx)
	wait := func() (proc.Result, error) {
		defer cancel()
		defer removeAll(temp)
		res := p.Wait(ctx)
		x.set(nil)
		r.lackedMemory = exists(filepath.Join(temp, "oom")) // podman's monitor makes it in the directory in which it was started
		if res.Canceled || res.TimedOut || res.Signal != "" || res.ExitCode == engineFault {
			r.engine.remove(r.name)
		}
		_ = claim.Remove() // else the next run removes a container that is gone
		if err := x.giveBack(r); err != nil {
			return res, &action.OutputError{Err: err}
		}
		return res, r.fault(&res, errs.end)
	}
	return action.Execution{Wait: wait, Cancel: cancel}, nil
}

func (x *Executor) set(r *request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = r
}

// inRunning executes a command in the running container.
func (x *Executor) inRunning(ctx context.Context, c *action.Command) (action.Execution, error) {
	x.mu.Lock()
	r := x.running
	x.mu.Unlock()
	if r == nil {
		return action.Execution{}, errors.New("the container does not run")
	}
	argv := r.engine.command(append([]string{"exec", "--workdir", r.inside(c.Dir), r.name}, c.Argv...)...)
	p, err := proc.StartUnwatched(proc.Spec{Argv: argv, Dir: "/", Env: r.engine.env, Stdout: c.Stdout, Stderr: c.Stderr, Timeout: c.Timeout, Grace: c.Grace, Engine: true})
	if err != nil {
		return action.Execution{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	return action.Execution{Cancel: cancel, Wait: func() (proc.Result, error) {
		defer cancel()
		return p.Wait(ctx), nil
	}}, nil
}

// request returns the description of the container of a command, with its directories in temp.
func (x *Executor) request(c *action.Command, img *image, temp string) (*request, error) {
	h := x.Host
	r := &request{
		engine: img.engine, image: img.known, container: x.Container, command: c, root: h.Root, name: namePrefix + owndir.RandomName(),
		task: x.Task, network: x.Network, envFile: filepath.Join(temp, "env"), runArgs: h.Settings.RunArgs,
	}
	r.uid, r.gid = caller()
	empty := filepath.Join(temp, "empty")
	for dir, mode := range map[string]os.FileMode{"tmp": 0o1777, "home": 0o777, "empty": 0o755, "empty/dir": 0o755} {
		at := filepath.Join(temp, filepath.FromSlash(dir))
		if err := errors.Join(os.MkdirAll(at, 0o755), os.Chmod(at, mode)); err != nil {
			return nil, err
		}
	}
	if err := unix.Mknod(filepath.Join(empty, "file"), unix.S_IFSOCK|0o600, 0); err != nil { // no program can open it
		return nil, err
	}
	if err := os.Chmod(temp, 0o711); err != nil { // another user of the container passes through
		return nil, err
	}
	binds, err := workspace(x.Reach, x.Inputs, empty)
	if err != nil {
		return nil, err
	}
	if x.Installed {
		binds = append(binds, atRoot(binds, h.Root)...)
	}
	more, err := further(x.Container, h.Environ.Get("HOME"))
	if err != nil {
		return nil, err
	}
	r.binds = append(binds, bind{source: filepath.Join(temp, "tmp"), target: temporary, write: true}, bind{source: filepath.Join(temp, "home"), target: home, write: true})
	r.binds = append(r.binds, more...)
	return r, os.WriteFile(r.envFile, []byte(r.fileOfVariables()), 0o600)
}

// Exit codes of the engines themselves.
const (
	engineFault  = 125
	notRunnable  = 126
	notFound     = 127
	killedStatus = 128 + 9
)

// fault returns the error of an engine that could not run the command, nil for a command that ran. It names the probable cause of
// a SIGKILL that bento has not sent.
func (r *request) fault(res *proc.Result, printed []byte) error {
	said := string(printed)
	at := max(strings.LastIndex(said, "\nError: "), strings.LastIndex(said, "\ndocker: "))
	byEngine := at >= 0 || strings.HasPrefix(said, "Error: ") || strings.HasPrefix(said, "docker: ")
	byInit := strings.Contains(said, "failed to exec pid1") || strings.Contains(said, "[FATAL tini")
	switch {
	case res.Canceled || res.TimedOut:
	case byInit && (res.ExitCode == 1 || res.ExitCode == notFound || res.ExitCode == notRunnable):
		return fmt.Errorf("%s has no program %q", r.container.Shown(), r.command.Argv[0])
	case res.ExitCode == killedStatus && res.Signal == "":
		res.Signal = "SIGKILL, in the container: most often its memory, or that of the machine, was not enough"
		if r.lackedMemory {
			res.Signal = "SIGKILL, in the container: its memory was not enough"
		}
	case byEngine && (res.ExitCode == engineFault || res.ExitCode == notRunnable || res.ExitCode == notFound):
		return fmt.Errorf("%s cannot run %q in %s: %s", r.engine.Name, r.command.Argv[0], r.container.Shown(), firstLine(said[max(at, 0):]))
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return lastLine(line)
}
