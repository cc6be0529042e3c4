// Package observe starts programs and notes which files of a directory they and their descendants use.
//
// On Linux a seccomp filter stops each system call that names a file (seccomp_unotify(2)). This process notes the path, and
// the call continues unchanged; only Limits deny calls. It sees programs of any kind, also statically linked ones, and needs
// no privileges. Other systems observe nothing, as Offered reports.
//
// Observation is no security boundary: another thread of the program can change a path between the note
// and the call.
//
// The filter is installed before the program's first instruction, by ptrace(2). If ptrace is not possible, Executor.Start
// starts bento itself with the argument Command; Enter then installs the filter and executes the program.
package observe

import (
	"context"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// Command is the first argument of a program that must call Enter.
const Command = "__observe"

// Executor executes commands as action.Local does, and notes what they use.
type Executor struct {
	// Root is the absolute path, without links, of the directory whose files are noted: the workspace.
	Root string
	// Self is the path of a program that calls Enter for Command, and Name its first argument: os.Args[0].
	Self, Name string

	overlook *action.Overlook // of one command
}

// Start implements action.Executor. If the system cannot observe the command, it runs all the same, and its
// action.Used says why. A command with Limits does not run then.
func (x *Executor) Start(ctx context.Context, c *action.Command) (action.Execution, error) {
	began := time.Now()
	var p *process
	execution, err := action.StartProcess(ctx, c, func(s proc.Spec) (action.Process, error) {
		var err error
		p, err = (&Executor{Root: x.Root, Self: x.Self, Name: x.Name, overlook: c.Overlook}).start(s, c.Limits)
		return p, err
	})
	if err != nil {
		return action.Execution{}, err
	}
	wait := execution.Wait
	execution.Wait = func() (proc.Result, error) {
		res, err := wait()
		if c.Used != nil {
			used := p.used()
			used.Began, used.CPU = began, res.CPU
			c.Used(used)
		}
		return res, err
	}
	return execution, nil
}

// Bounds of what is noted. More files than maxFiles make it incomplete.
const (
	maxFiles   = 1 << 18
	maxOutside = 1 << 14
)

// process is an observed child.
type process struct {
	*proc.Process
	listener *listener // nil if it is not observed
	overlook *action.Overlook
	unseen   string // the reason why not
}

// Wait is proc.Process.Wait.
func (p *process) Wait(ctx context.Context) proc.Result {
	res := p.Process.Wait(ctx)
	p.listener.stop()
	return res
}

// used returns what was noted. The caller has called Wait.
func (p *process) used() *action.Used {
	if p.listener == nil {
		return &action.Used{Unseen: []string{p.unseen}}
	}
	return p.listener.notes.used()
}
