package proc

import (
	"os"
	"syscall"
)

type descendant struct{}

// leader is a child.
type leader struct {
	pid  int
	proc *os.Process
}

type status = os.ProcessState

// fork starts the child in a console group of its own.
func (p *Process) fork() (err error) {
	env := p.spec.Env
	if env == nil {
		env = []string{}
	}
	p.leader.proc, err = os.StartProcess(p.spec.program(), p.spec.Argv, &os.ProcAttr{
		Dir:   p.spec.Dir,
		Env:   env,
		Files: []*os.File{p.io.child[0].File(), p.io.child[1].File(), p.io.child[2].File()},
		Sys:   &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP},
	})
	if err == nil {
		p.leader.pid = p.leader.proc.Pid
	}
	return err
}

func (p *Process) await() *status {
	state, _ := p.leader.proc.Wait()
	return state
}

func (p *Process) forget() *status { return nil }

// left knows of no descendants here.
func (p *Process) left() []descendant { return nil }

// signal ends the child, whatever sig is: there is no asking on Windows.
func (p *Process) signal(syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = p.leader.proc.Kill()
	}
}

func (r *Result) fill(state *status) {
	if state == nil {
		r.ExitCode = -1
		return
	}
	r.ExitCode = state.ExitCode()
	r.CPU = state.UserTime() + state.SystemTime()
}
