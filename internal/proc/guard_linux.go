package proc

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc/groups"
	"github.com/bentobuild/bento/internal/proc/procfs"
)

// GuardGrace is the time between SIGTERM and SIGKILL that a guard gives.
const GuardGrace = time.Second

// tableFD is the descriptor of the table in the guard.
const tableFD = 3

// Guard starts argv (argv[0] is what the program is called, path what is run), a
// program that calls Watch with its standard input. From then on it can see every
// child's group, and when this process dies, however that happens, it ends the
// groups that are left, and what has left them and carries a mark of this process.
// It lives in a session of its own, and has the files of hold open until all is
// done. A second call does nothing.
func Guard(path string, hold []*os.File, argv ...string) error {
	kin.forking.Lock()
	defer kin.forking.Unlock()
	kin.adopt()
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil {
		return nil
	}
	t, err := groups.New()
	if err != nil {
		return err
	}
	guard, err := startGuard(path, hold, argv, t)
	if err != nil {
		t.Close()
		return err
	}
	kin.strangers[guard.Pid] = true
	kin.guard = t // held until this process ends
	for pid := range kin.leaders {
		t.Add(pid)
	}
	return guard.Release()
}

func startGuard(path string, hold []*os.File, argv []string, t *groups.Table) (guard *os.Process, err error) {
	end, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		defer null.Close()
		guard, err = os.StartProcess(path, argv, &os.ProcAttr{
			Dir: "/", Env: []string{}, Files: append([]*os.File{end, null, null, t.File()}, hold...), Sys: &syscall.SysProcAttr{Setsid: true},
		})
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	kin.alive = ours
	return guard, nil
}

// Dismiss is for the end of a program: when all children were waited for, the guard need
// not search the system for what is left of them.
func Dismiss() {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil && len(kin.leaders) == 0 {
		kin.guard.Disown()
	}
}

// Watch is the guard: it waits until its parent is gone, which ends in, and then ends
// what is left: SIGTERM, GuardGrace, SIGKILL.
func Watch(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	of, list := groups.Read(tableFD)
	if of == 0 {
		return // dismissed
	}
	left := remains{of: of, groups: list}
	left.end()
}

// remains is what a process that died may have left behind.
type remains struct {
	of     int   // its pid
	groups []int // its children's
}

func (r *remains) end() {
	if !r.signal(unix.SIGTERM) {
		return
	}
	for end := time.Now().Add(GuardGrace); time.Now().Before(end) && r.signal(0); {
		time.Sleep(10 * time.Millisecond)
	}
	r.signal(unix.SIGKILL)
}

// signal sends sig to all that is left, and tells whether there was anything.
func (r *remains) signal(sig unix.Signal) (left bool) {
	for _, pid := range r.groups {
		if unix.Kill(-pid, sig) == nil {
			left = true
		}
	}
	for _, pid := range r.marked() {
		if unix.Kill(pid, sig) == nil {
			left = true
		}
	}
	return left
}

// marked gives the processes that carry a mark of the one that died.
func (r *remains) marked() (pids []int) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err == nil && pid != os.Getpid() && int(procfs.Mark(pid)>>32) == r.of {
			pids = append(pids, pid)
		}
	}
	return pids
}
