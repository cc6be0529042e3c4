package proc

import (
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc/procfs"
)

// GuardGrace is the time between SIGTERM and SIGKILL that a guard gives.
const GuardGrace = time.Second

// tableFD is the descriptor of the table in the guard.
const tableFD = 3

// maxGroups bounds how many groups a guard knows at a time. More children than that
// have nobody but the kernel, which ends them but not what they started.
const maxGroups = 4096

// table tells the guard who is to be guarded and which groups there are: 8 bytes
// each, zero for none, in memory that both see. Nobody is woken by a write. The nil
// table takes everything and keeps nothing.
type table struct {
	file  *os.File
	alive *os.File // closed by the end of this process
	slots map[int]int64
	free  []int64 // slots that were used
}

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
	t, end, err := newTable()
	if err != nil {
		return err
	}
	defer end.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.close()
		return err
	}
	defer null.Close()
	guard, err := os.StartProcess(path, argv, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: append([]*os.File{end, null, null, t.file}, hold...), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		t.close()
		return err
	}
	kin.strangers[guard.Pid] = true
	kin.guard = t // held until this process ends
	for pid := range kin.leaders {
		t.add(pid)
	}
	return guard.Release()
}

// Dismiss is for the end of a program: when all children were waited for, the guard need
// not search the system for what is left of them.
func Dismiss() {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil && len(kin.leaders) == 0 {
		kin.guard.put(0, 0)
	}
}

// newTable gives a table with this process in it, and the end of a pipe that ends
// with this process.
func newTable() (t *table, end *os.File, err error) {
	fd, err := unix.MemfdCreate("bento-groups", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	t = &table{file: os.NewFile(uintptr(fd), "groups"), slots: make(map[int]int64)}
	if end, t.alive, err = os.Pipe(); err != nil {
		t.file.Close()
		return nil, nil, err
	}
	t.put(0, os.Getpid())
	return t, end, nil
}

func (t *table) close() {
	t.file.Close()
	t.alive.Close()
}

// add tells of a group.
func (t *table) add(pid int) {
	if t == nil || len(t.slots) == maxGroups {
		return
	}
	at := int64(len(t.slots)) + 1
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
	}
	t.slots[pid] = at
	t.put(at, pid)
}

// remove tells that a group is gone.
func (t *table) remove(pid int) {
	if t == nil {
		return
	}
	if at, had := t.slots[pid]; had {
		delete(t.slots, pid)
		t.free = append(t.free, at)
		t.put(at, 0)
	}
}

func (t *table) put(at int64, pid int) {
	var slot [8]byte
	binary.LittleEndian.PutUint64(slot[:], uint64(pid))
	_, _ = t.file.WriteAt(slot[:], at*int64(len(slot)))
}

// Watch is the guard: it waits until its parent is gone, which ends in, and then ends
// what is left: SIGTERM, GuardGrace, SIGKILL.
func Watch(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	left := remains{of: int(readSlot(0)), groups: make(map[int]bool)}
	if left.of == 0 {
		return // dismissed
	}
	for at := int64(1); at <= maxGroups; at++ {
		pid := readSlot(at)
		if pid < 0 {
			break
		}
		left.groups[int(pid)] = pid > 1
	}
	left.end()
}

// readSlot reads the table in the guard; -1 is behind its end.
func readSlot(at int64) int64 {
	var slot [8]byte
	if n, _ := unix.Pread(tableFD, slot[:], at*int64(len(slot))); n < len(slot) {
		return -1
	}
	return int64(binary.LittleEndian.Uint64(slot[:]))
}

// remains is what a process that died may have left behind.
type remains struct {
	of     int          // its pid
	groups map[int]bool // its children's, and whether they were there at last
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
	for pid, there := range r.groups {
		if there && unix.Kill(-pid, sig) == nil {
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
