//go:build unix && !linux

package proc

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// descendant is a process below one of our children.
type descendant struct{ pid, group int }

// rssUnit is what ru_maxrss counts in.
var rssUnit = map[bool]int64{true: 1, false: 1 << 10}[runtime.GOOS == "darwin"]

func pipe2(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := unix.Pipe(fds[:])
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return err
}

func (p *Process) sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *Process) start(attr *os.ProcAttr) (err error) {
	p.proc, err = os.StartProcess(p.spec.Argv[0], p.spec.Argv, attr)
	return err
}

// await waits for the child. These systems cannot wait without reaping.
func (p *Process) await() *os.ProcessState {
	state, _ := p.proc.Wait()
	return state
}

func (p *Process) forget() *os.ProcessState { return nil }

// left tells whether the group has members; who they are is not known, nor who
// left it.
func (p *Process) left() []descendant {
	if unix.Kill(-p.proc.Pid, 0) != nil {
		return nil
	}
	return []descendant{{p.proc.Pid, p.proc.Pid}}
}
