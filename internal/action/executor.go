package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/tree"
)

// Executor executes commands: on this machine, or where the files of a command are copied to.
type Executor interface {
	// Start starts a command, which ends early when ctx is done: by SIGTERM and, after its grace, by
	// SIGKILL; if the cause of ctx is proc.ErrInterrupt, by SIGINT first. The caller calls Wait.
	Start(ctx context.Context, c *Command) (Execution, error)
}

// Execution is a command that was started.
type Execution struct {
	// Wait waits for the end of the command, and then has its outputs in the workspace. The error is one of
	// the executor, an *OutputError if the outputs cannot be brought there.
	Wait func() (proc.Result, error)
	// Cancel ends the command as the end of ctx does. It does not wait for that.
	Cancel func()
}

// Command is all that an Executor needs to know about the work of one execution. It is a value: nothing was
// started for it.
type Command struct {
	proc.Spec
	// Foreign says that the programs of this machine are not those of the place where the command runs: Argv[0] is a name
	// or a path there, and PATH in Env, if it ends with ":", is what goes before the PATH there.
	Foreign bool
	// Shell is another Argv for the same work, for a Program that the system cannot start; nil for none.
	Shell []string
	// Words is the same work for another machine: Argv with its program as the task names it.
	Words []string
	// Keyed returns the variables of Env that the task sets, or that are in its key: those that another machine gets.
	// It is nil for a command that is no task.
	Keyed func() adapters.Environ
	// Ready describes when a server is ready; nil for other commands.
	Ready *dish.Ready
	// Inputs yields the files in the workspace that the command may read, except what an install has made; a
	// file may come twice. It is nil for a command that is no task.
	Inputs iter.Seq[key.File]
	// Outputs match the files in the workspace that the command makes; nil for none.
	Outputs *tree.Set
	// Limits are the files that the command may use; nil: all. Only an Executor that observes commands enforces them.
	Limits *Limits
	// Overlook is what an Executor that observes the command does not note; nil for nothing.
	Overlook *Overlook
	// Used is called in Wait by an Executor that observes what the command uses; it may be nil.
	Used func(*Used)
}

// OutputError is the error of outputs that an executor cannot bring into the workspace.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// UnavailableError is the error of an executor on other machines that cannot execute a command there, whatever the command
// is: nothing of it is in the workspace, and it may be executed here.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// StrayError is the error of a command that has left files that it may not make.
type StrayError struct{ Files int }

func (e *StrayError) Error() string {
	if e.Files == 1 {
		return "it has left a file that is none of its outputs"
	}
	return fmt.Sprintf("it has left %d files that are none of its outputs", e.Files)
}

// Local executes commands as processes of this machine, in the workspace itself.
type Local struct{}

// Start starts the process. If the kernel cannot start the program, Start starts the shell, which can start
// more kinds of files or print a message that users know.
func (Local) Start(ctx context.Context, c *Command) (Execution, error) {
	return StartProcess(ctx, c, func(s proc.Spec) (Process, error) { return proc.StartUnwatched(s) })
}

// Process is a process that was started.
type Process interface {
	Wait(ctx context.Context) proc.Result
}

// StartProcess is Start for an Executor that starts the process of a command by start.
func StartProcess(ctx context.Context, c *Command, start func(proc.Spec) (Process, error)) (Execution, error) {
	spec := c.Spec
	p, err := start(spec)
	if err != nil && c.Shell != nil {
		spec.Program, spec.Argv = "", c.Shell
		p, err = start(spec)
	}
	if err != nil {
		return Execution{}, unstarted(&spec, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	wait := func() (proc.Result, error) {
		defer cancel()
		return p.Wait(ctx), nil
	}
	return Execution{Wait: wait, Cancel: cancel}, nil
}

// unstarted returns the reason why a process could not be started, in words.
func unstarted(spec *proc.Spec, err error) error {
	if fi, serr := os.Stat(spec.Dir); serr != nil || !fi.IsDir() {
		return fmt.Errorf("there is no directory %q to run it in", spec.Dir)
	}
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	return fmt.Errorf("%q cannot be run: %w", spec.Argv[0], err)
}
