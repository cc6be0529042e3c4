package proc

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const rssUnit = 1 << 10

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Ptrace: p.spec.Entered != nil}
	if p.spec.Gentle {
		attr.Pdeathsig = syscall.SIGTERM
	}
	if f := p.spec.Terminal; f != nil {
		attr.Foreground, attr.Ctty = true, int(f.Fd())
	}
	if p.spec.Mounts {
		attr.Cloneflags = unix.CLONE_NEWNS
	}
	if uid, gid := os.Geteuid(), os.Getegid(); p.spec.Mounts && uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // exec of a user other than root drops it otherwise
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	return attr
}

// leader is a child.
type leader struct {
	pid  int
	fd   int    // its pidfd; -1 if the kernel has none
	mark uint64 // mark of its descendants, 0 for none
}

// family is the state of the children of this process. It is global: one process reaps the orphans of
// all children, and only the mark identifies the child that an orphan descends from.
type family struct {
	forking sync.Mutex // held while a child is forked, before mu
	reaper  bool
	adopted int    // open list of the adopted children
	marks   uint64 // marks used so far

	mu        sync.Mutex
	leaders   map[int]bool // children of Start that are not reaped
	strangers map[int]bool // children from before the first Start
	guard     *groupTable  // shared with the guard; nil when there is none
	alive     *os.File     // closed by the end of this process, which the guard waits for
	held      []*os.File   // files that the guard keeps open
	after     []byte       // see Afterwards
	pollers   sync.Pool    // of *epoll
}

var kin family

// engineMark is the mark of all processes that an engine runs: see Spec.Engine. No process has the number in its upper half.
const engineMark = 1 << 62

// start starts the child, and calls Entered.
func (p *Process) start(attr *syscall.ProcAttr) error {
	if p.spec.Entered == nil {
		return p.launch(attr)
	}
	runtime.LockOSThread() // only the thread that forked may trace
	defer runtime.UnlockOSThread()
	err := p.launch(attr)
	if err == nil {
		p.spec.Entered(p.leader.pid, p.leader.fd)
	}
	return err
}

// launch forks with the mark set, and registers the child before another goroutine can take it for
// an orphan.
//
// Linux takes the end of the thread that forked a child for the death of bento
// (golang.org/issue/27505). A Go thread ends only with a locked goroutine, and no locked goroutine
// ends here.
func (p *Process) launch(attr *syscall.ProcAttr) (err error) {
	kin.forking.Lock()
	defer kin.forking.Unlock()
	kin.adopt()
	kin.marks++
	mark := uint64(os.Getpid())<<32 | kin.marks&(1<<32-1)
	if p.spec.Engine {
		mark = engineMark
	}
	unmark, ok := setMark(mark)
	if ok {
		defer unmark()
	}
	if ok && !p.spec.Engine {
		p.leader.mark = mark
	}
	p.leader.fd = -1
	attr.Sys.PidFD = &p.leader.fd
	p.leader.pid, _, err = syscall.StartProcess(p.spec.program(), p.spec.Argv, attr)
	if err == nil {
		kin.mu.Lock()
		defer kin.mu.Unlock()
		kin.leaders[p.leader.pid] = true
		kin.guard.Add(p.leader.pid)
	}
	return err
}

// adopt makes this process the reaper of its descendants. If the kernel refuses, a descendant that
// leaves its group is lost.
func (k *family) adopt() {
	if k.reaper {
		return
	}
	k.reaper, k.adopted = true, openAdopted()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaders, k.strangers = map[int]bool{}, map[int]bool{}
	for _, pid := range childrenOf(os.Getpid()) {
		k.strangers[pid] = true
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// forget reaps the child.
func (p *Process) forget() *status {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	pid := p.leader.pid
	delete(kin.leaders, pid)
	kin.guard.Remove(pid) // before another group can get its number
	return reap(pid)      // it has exited
}

// left returns the living descendants of the child, without the child.
func (p *Process) left() []process {
	var found []process
	if !p.gone() {
		found = descendants(p.leader.pid)
	}
	for _, d := range kin.orphans(p) {
		found = append(append(found, d), descendants(d.Pid)...)
	}
	if p.spec.Engine {
		found = slices.DeleteFunc(found, func(d process) bool { return d.Group != p.leader.pid })
	}
	return found
}

// orphans returns the living orphans of p: processes of its group, processes with its mark, and, for
// the last child, unless others are Beside it, processes that belong to no other child. In bento's own group it returns only
// processes with the mark of p: bento has not started the others. It reaps dead orphans. If it finds
// no living ones, it lists them again: an orphan that has died since may have started another one.
func (k *family) orphans(p *Process) []process {
	var had []int
	for {
		pids := readAdopted(k.adopted) // before the lock: a child forked later is not in the list
		if !slices.ContainsFunc(pids, func(pid int) bool { return !slices.Contains(had, pid) }) {
			return nil
		}
		if found := k.among(pids, p); len(found) > 0 {
			return found
		}
		had = pids
	}
}

// among returns the living orphans of p among pids, and reaps the dead ones.
func (k *family) among(pids []int, p *Process) []process {
	k.forking.Lock() // an unregistered child is no orphan
	defer k.forking.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	own, last := unix.Getpgrp(), len(k.leaders) == 1 && !p.spec.Beside
	var found []process
	for _, pid := range pids {
		if k.leaders[pid] || k.strangers[pid] {
			continue
		}
		d, zombie, ok := statProcess(pid)
		marked := func() bool { return p.leader.mark != 0 && markOf(pid) == p.leader.mark }
		switch {
		case ok && d.Group != p.leader.pid && markOf(pid) == engineMark:
			if zombie {
				reapOrphan(pid)
			}
		case !ok || d.Group == own && !marked():
		case !last && d.Group != p.leader.pid && !marked():
		case zombie && reapOrphan(pid):
		default:
			found = append(found, d)
		}
	}
	return found
}

// reapOrphan reaps pid if it is dead and reports whether it was. A process whose first thread has
// ended looks like a zombie, but lives.
func reapOrphan(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || err != nil
}
