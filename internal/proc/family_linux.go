package proc

import (
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const rssUnit = 1 << 10

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	return p.foreground(&syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL})
}

// family is what this process knows of its children.
//
// Orphans of every child come to the one process that reaps them, and by then
// nothing but the mark tells whose they are. So this is state of the process, not
// of a value in it.
type family struct {
	mu        sync.Mutex
	reaper    bool
	leaders   map[int]bool // children of Start that are not reaped
	strangers map[int]bool // children that were there before the first Start
	marks     uint64       // given out
	forks     chan func()  // to the thread that forks
	guard     *table       // what the guard sees; nil when there is none
}

var kin family

// start forks with the mark set, and makes the child known before anybody can take
// it for an orphan.
func (p *Process) start(attr *os.ProcAttr) (err error) {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	kin.adopt()
	kin.marks++
	mark := uint64(os.Getpid())<<32 | kin.marks&(1<<32-1)
	unmark, ok := setMark(mark)
	if ok {
		p.mark = mark
		defer unmark()
	}
	p.fd = -1
	attr.Sys.PidFD = &p.fd
	kin.onThread(func() { p.proc, err = os.StartProcess(p.spec.Argv[0], p.spec.Argv, attr) })
	if err == nil {
		kin.leaders[p.proc.Pid] = true
		kin.guard.add(p.proc.Pid)
	}
	return err
}

// onThread runs f on the thread that forks all children and then waits for the
// next. Linux takes the end of the thread that forked a child for the death of bento
// (golang.org/issue/27505), and this one never ends.
func (k *family) onThread(f func()) {
	done := make(chan struct{})
	k.forks <- func() {
		f()
		close(done)
	}
	<-done
}

func pipe2(fds *[2]int) error { return unix.Pipe2(fds[:], unix.O_CLOEXEC) }

// adopt makes this process the reaper of its descendants. Where the kernel refuses,
// a descendant that leaves its group is lost to us.
func (k *family) adopt() {
	if k.reaper {
		return
	}
	k.reaper = true
	k.leaders, k.strangers = map[int]bool{}, map[int]bool{}
	k.forks = make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range k.forks {
			f()
		}
	}()
	for _, pid := range children(os.Getpid()) {
		k.strangers[pid] = true
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// await waits for the child to exit and leaves it unreaped.
func (p *Process) await() *os.ProcessState {
	if p.fd >= 0 && p.poll() {
		return nil
	}
	for {
		err := unix.Waitid(unix.P_PID, p.proc.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return nil
		}
	}
}

// poll waits without a thread until the child's descriptor tells of its exit. It
// tells whether that went well.
func (p *Process) poll() bool {
	_ = unix.SetNonblock(p.fd, true)
	f := os.NewFile(uintptr(p.fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	exited := func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return n > 0 || err != nil && err != unix.EINTR
	}
	return raw.Read(exited) == nil
}

// forget reaps the child.
func (p *Process) forget() *os.ProcessState {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	delete(kin.leaders, p.proc.Pid)
	state, _ := p.proc.Wait() // it has exited
	kin.guard.remove(p.proc.Pid)
	return state
}

// left gives the living descendants of the child, without itself.
func (p *Process) left() []descendant {
	var found []descendant
	if !p.gone() {
		found = appendDescendants(found, p.proc.Pid, 0)
	}
	for _, d := range kin.orphans(p) {
		found = append(found, d)
		found = appendDescendants(found, d.pid, 0)
	}
	return found
}

// orphans gives the living orphans that belong to p: those of its group, those with
// its mark, and with the last child those of nobody. Of our own group only those with
// its mark do: others may be there that we have not started. Dead ones are reaped.
func (k *family) orphans(p *Process) []descendant {
	pids := adopted() // before the lock: who is forked later is not in it
	if len(pids) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	own, last := unix.Getpgrp(), len(k.leaders) == 1
	var found []descendant
	for _, pid := range pids {
		if k.leaders[pid] || k.strangers[pid] {
			continue
		}
		d, zombie, ok := readStat(pid)
		marked := func() bool { return p.mark != 0 && readMark(pid) == p.mark }
		switch {
		case !ok || d.group == own && !marked():
		case !last && d.group != p.proc.Pid && !marked():
		case zombie && reapOrphan(pid):
		default:
			found = append(found, d)
		}
	}
	return found
}

// reapOrphan tells whether pid was dead. A process whose first thread has ended is
// shown as a zombie and lives.
func reapOrphan(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || err != nil
}
