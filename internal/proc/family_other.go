//go:build unix && !linux

package proc

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// descendant is a process below one of our children.
type descendant struct{ Pid, Group int }

// rssUnit is the unit of ru_maxrss in bytes.
var rssUnit = map[bool]int64{true: 1, false: 1 << 10}[runtime.GOOS == "darwin"]

func (p *Process) sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// leader is a child.
type leader struct{ pid int }

func (p *Process) start(attr *syscall.ProcAttr) (err error) {
	p.leader.pid, _, err = syscall.StartProcess(p.spec.program(), p.spec.Argv, attr)
	return err
}

// await waits for the child. These systems cannot wait without reaping.
func (p *Process) await() *status { return reap(p.leader.pid) }

func (p *Process) forget() *status { return nil }

// left reports whether the group has members. It cannot list them, nor those that left the group.
func (p *Process) left() []descendant {
	if unix.Kill(-p.leader.pid, 0) != nil {
		return nil
	}
	return []descendant{{p.leader.pid, p.leader.pid}}
}
