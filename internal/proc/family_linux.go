package proc

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc/groups"
	"github.com/bentobuild/bento/internal/proc/procfs"
)

const rssUnit = 1 << 10

func (p *Process) sysProcAttr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if f := p.spec.Terminal; f != nil {
		attr.Foreground, attr.Ctty = true, int(f.Fd())
	}
	return attr
}

// leader is a child.
type leader struct {
	pid  int
	fd   int    // its descriptor, which tells of its exit; -1 where the kernel has none
	mark uint64 // what its descendants are known by, 0 for nothing
}

// family is what this process knows of its children.
//
// Orphans of every child come to the one process that reaps them, and by then
// nothing but the mark tells whose they are. So this is state of the process, not
// of a value in it.
type family struct {
	forking sync.Mutex // held while a child is made, before mu
	reaper  bool
	adopted int    // the list of orphans, open
	marks   uint64 // given out

	mu        sync.Mutex
	leaders   map[int]bool  // children of Start that are not reaped
	strangers map[int]bool  // children that were there before the first Start
	guard     *groups.Table // what the guard sees; nil when there is none
	alive     *os.File      // closed by the end of this process, for which the guard waits
	pollers   sync.Pool     // of *poller.Poller
}

var kin family

// start forks with the mark set, and makes the child known before anybody can take
// it for an orphan.
//
// Linux takes the end of the thread that forked a child for the death of bento
// (golang.org/issue/27505). A thread of Go ends only with a goroutine that is locked
// to it, of which there are none here that end.
func (p *Process) start(attr *syscall.ProcAttr) (err error) {
	kin.forking.Lock()
	defer kin.forking.Unlock()
	kin.adopt()
	kin.marks++
	mark := uint64(os.Getpid())<<32 | kin.marks&(1<<32-1)
	unmark, ok := procfs.SetMark(mark)
	if ok {
		p.leader.mark = mark
		defer unmark()
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

// adopt makes this process the reaper of its descendants. Where the kernel refuses,
// a descendant that leaves its group is lost to us.
func (k *family) adopt() {
	if k.reaper {
		return
	}
	k.reaper, k.adopted = true, procfs.OpenAdopted()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaders, k.strangers = map[int]bool{}, map[int]bool{}
	for _, pid := range procfs.Children(os.Getpid()) {
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
	kin.guard.Remove(pid) // before another can have its number
	return reap(pid)      // it has exited
}

// left gives the living descendants of the child, without itself.
func (p *Process) left() []procfs.Process {
	var found []procfs.Process
	if !p.gone() {
		found = procfs.Descendants(p.leader.pid)
	}
	for _, d := range kin.orphans(p) {
		found = append(append(found, d), procfs.Descendants(d.Pid)...)
	}
	return found
}

// orphans gives the living orphans that belong to p: those of its group, those with
// its mark, and with the last child those of nobody. Of our own group only those with
// its mark do: others may be there that we have not started. Dead ones are reaped.
func (k *family) orphans(p *Process) []procfs.Process {
	pids := procfs.ReadAdopted(k.adopted) // before the lock: who is forked later is not in it
	if len(pids) == 0 {
		return nil
	}
	k.forking.Lock() // a child that is not known yet is no orphan
	defer k.forking.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	own, last := unix.Getpgrp(), len(k.leaders) == 1
	var found []procfs.Process
	for _, pid := range pids {
		if k.leaders[pid] || k.strangers[pid] {
			continue
		}
		d, zombie, ok := procfs.Stat(pid)
		marked := func() bool { return p.leader.mark != 0 && procfs.Mark(pid) == p.leader.mark }
		switch {
		case !ok || d.Group == own && !marked():
		case !last && d.Group != p.leader.pid && !marked():
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
