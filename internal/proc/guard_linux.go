package proc

import (
	"errors"
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

// Guard starts the program path with argv; it calls Watch with its standard input. The guard sees the
// group of every child from then on. When this process dies for any reason, the guard ends the
// remaining groups, and descendants outside them that have a mark of this process. It runs in its own
// session, and keeps the files of hold open until it is done. A further call starts no guard: it
// replaces the files of hold, unless hold is empty.
func Guard(path string, hold []*os.File, argv ...string) error {
	if kin.guards(hold) {
		return nil
	}
	kin.forking.Lock()
	defer kin.forking.Unlock()
	kin.adopt()
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard == nil {
		if err := kin.startGuard(path, argv); err != nil {
			return err
		}
	}
	if len(hold) == 0 {
		return nil
	}
	kin.held = slices.Clone(hold)
	return pass(kin.alive, hold)
}

// guards reports whether the guard runs and has the files.
func (k *family) guards(hold []*os.File) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.guard != nil && (len(hold) == 0 || slices.Equal(k.held, hold))
}

// startGuard starts the guard with a table of all children. The caller holds both locks.
func (k *family) startGuard(path string, argv []string) error {
	t, err := newGroups()
	if err != nil {
		return err
	}
	guard, err := k.launchGuard(path, argv, t)
	if err != nil {
		t.Close()
		return err
	}
	k.strangers[guard.Pid] = true
	k.guard = t // open until this process ends
	t.leaveAfter(k.after)
	for pid := range k.leaders {
		t.Add(pid)
	}
	return guard.Release()
}

func (k *family) launchGuard(path string, argv []string, t *groupTable) (guard *os.Process, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	end, ours := os.NewFile(uintptr(ends[0]), "guard"), os.NewFile(uintptr(ends[1]), "guard")
	defer end.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		defer null.Close()
		guard, err = os.StartProcess(path, argv, &os.ProcAttr{
			Dir: "/", Env: []string{}, Files: []*os.File{end, null, null, t.File()}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	k.alive = ours
	return guard, nil
}

// pass sends files to the guard. They stay open from now on, even before the guard has read the
// message.
func pass(to *os.File, files []*os.File) error {
	var fds []int
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { fds = append(fds, int(fd)) })
		}
		if err != nil {
			return err
		}
	}
	return os.NewSyscallError("sendmsg", unix.Sendmsg(int(to.Fd()), []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL))
}

// Dismiss ends the guard's work. A program calls it at its end, after it has waited for all children.
func Dismiss() {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil && len(kin.leaders) == 0 {
		kin.guard.Disown()
	}
}

// Watch is the guard: it waits until its parent dies, which closes in, and then ends the remaining
// processes with SIGTERM and, after GuardGrace, SIGKILL. Then it runs the program of Afterwards.
func Watch(in *os.File) {
	_ = holdUntilEnd(int(in.Fd())) // open until this process ends
	of, list := readGroups(tableFD)
	if of == 0 {
		return // dismissed
	}
	left := remains{of: of, groups: list}
	left.end()
	runAfter(tableFD)
}

// maxHeld is the largest number of files that a guard keeps open.
const maxHeld = 8

// holdUntilEnd waits for the end of the stream, and returns the open files of the last message.
func holdUntilEnd(fd int) (held []int) {
	note, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*maxHeld))
	for {
		n, size, _, _, err := unix.Recvmsg(fd, note, rights, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return held
		}
		came := filesOf(rights[:size])
		for _, old := range held {
			unix.Close(old)
		}
		held = came
	}
}

// filesOf returns the files in the control part of a message.
func filesOf(control []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		if list, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, list...)
		}
	}
	return fds
}

// remains are the processes that a dead process may have left.
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

// signal sends sig to all remaining processes, and reports whether there were any.
func (r *remains) signal(sig unix.Signal) (left bool) {
	// A group that has ended is removed from the list: another process may get its number.
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
