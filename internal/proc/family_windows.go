package proc

import (
	"os"
	"syscall"
)

type descendant struct{}

// fork starts the child in a console group of its own.
func (p *Process) fork() (err error) {
	env := p.spec.Env
	if env == nil {
		env = []string{}
	}
	p.proc, err = os.StartProcess(p.spec.Argv[0], p.spec.Argv, &os.ProcAttr{
		Dir:   p.spec.Dir,
		Env:   env,
		Files: p.io.child[:],
		Sys:   &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP},
	})
	return err
}

func (p *Process) await() *os.ProcessState {
	state, _ := p.proc.Wait()
	return state
}

func (p *Process) forget() *os.ProcessState { return nil }

// left knows of no descendants here.
func (p *Process) left() []descendant { return nil }

// signal ends the child, whatever sig is: there is no asking on Windows.
func (p *Process) signal(syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = p.proc.Kill()
	}
}

func (r *Result) fill(state *os.ProcessState) {
	if state == nil {
		r.ExitCode = -1
		return
	}
	r.ExitCode = state.ExitCode()
	r.CPU = state.UserTime() + state.SystemTime()
}
