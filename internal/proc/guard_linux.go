package proc

import (
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GuardGrace is the time between SIGTERM and SIGKILL of a guard.
const GuardGrace = time.Second

// tableFD is the descriptor of the table in the guard.
const tableFD = 3

// Guard starts the program path with argv; it calls Watch with its standard input. The guard sees
// the group of every child from then on. When this process dies, in whatever way, the guard ends
// the groups that are left, and descendants outside them that carry a mark of this process. It runs
// in its own session, and keeps the files of hold open until it is done. A second call does
// nothing.
func Guard(path string, hold []*os.File, argv ...string) error {
	kin.forking.Lock()
	defer kin.forking.Unlock()
	kin.adopt()
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil {
		return nil
	}
	t, err := newGroups()
	if err != nil {
		return err
	}
	guard, err := startGuard(path, hold, argv, t)
	if err != nil {
		t.Close()
		return err
	}
	kin.strangers[guard.Pid] = true
	kin.guard = t // open until this process ends
	for pid := range kin.leaders {
		t.Add(pid)
	}
	return guard.Release()
}

func startGuard(path string, hold []*os.File, argv []string, t *groupTable) (guard *os.Process, err error) {
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

// Dismiss ends the guard's work. A program calls it at its end, when all children were waited for.
func Dismiss() {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil && len(kin.leaders) == 0 {
		kin.guard.Disown()
	}
}

// Watch is the guard: it waits until its parent dies, which closes in, and then ends what is left:
// SIGTERM, GuardGrace, SIGKILL.
func Watch(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	of, list := readGroups(tableFD)
	if of == 0 {
		return // dismissed
	}
	left := remains{of: of, groups: list}
	left.end()
}

// remains is what a dead process may have left.
type remains struct {
	of     int     // its pid
	groups []group // of its children
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

// signal sends sig to everything that is left, and reports whether there was anything.
func (r *remains) signal(sig unix.Signal) (left bool) {
	// A group that has ended stays away from the list: its number may be given to a stranger.
	r.groups = slices.DeleteFunc(r.groups, func(g group) bool { return g.isReused() || unix.Kill(-g.id, sig) != nil })
	left = len(r.groups) > 0
	for _, pid := range r.marked() {
		if unix.Kill(pid, sig) == nil {
			left = true
		}
	}
	return left
}

// marked returns the processes with a mark of the dead process.
func (r *remains) marked() (pids []int) {
	if r.of <= 1 {
		return nil // every process without a mark has this one
	}
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err == nil && pid != os.Getpid() && int(markOf(pid)>>32) == r.of {
			pids = append(pids, pid)
		}
	}
	return pids
}
