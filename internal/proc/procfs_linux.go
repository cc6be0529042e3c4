package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// process is the id of a process and of its group.
type process struct{ Pid, Group int }

// maxDepth is the largest depth in a tree of processes, which may change during the walk.
const maxDepth = 100

// descendants returns the living processes below pid.
func descendants(pid int) []process { return appendDescendants(nil, pid, 0) }

func appendDescendants(found []process, pid, depth int) []process {
	if depth == maxDepth {
		return found
	}
	for _, child := range childrenOf(pid) {
		d, zombie, ok := statProcess(child)
		if !ok {
			continue
		}
		if !zombie {
			found = append(found, d)
		}
		found = appendDescendants(found, child, depth+1)
	}
	return found
}

// childrenOf returns the children of all threads of pid.
func childrenOf(pid int) []int {
	dir := procPath(pid, "task")
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var pids []int
	for _, t := range tasks {
		pids = appendPids(pids, dir+"/"+t.Name()+"/children")
	}
	return pids
}

// openAdopted opens the list of the children of this process's first thread, which adopts orphans.
// It returns -1 when there is none.
func openAdopted() int {
	self := os.Getpid()
	fd, err := unix.Open(procPath(self, "task/"+strconv.Itoa(self)+"/children"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// readAdopted reads that list. It stays open because it is read after each child.
func readAdopted(fd int) []int {
	data := make([]byte, 0, 512)
	for {
		n, err := unix.Pread(fd, data[len(data):cap(data)], int64(len(data)))
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0:
			return pidsIn(nil, data)
		default:
			data = slices.Grow(data[:len(data)+n], 512)
		}
	}
}

func appendPids(pids []int, file string) []int {
	data, err := readFile(file)
	if err != nil {
		return pids
	}
	return pidsIn(pids, data)
}

func pidsIn(pids []int, data []byte) []int {
	for _, field := range bytes.Fields(data) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statProcess returns the group of a process and reports whether it is a zombie.
func statProcess(pid int) (d process, zombie, ok bool) {
	data, err := readFile(procPath(pid, "stat"))
	if err != nil {
		return d, false, false
	}
	// The name in parentheses may contain any bytes: "pid (name) state ppid pgrp …".
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 3 {
		return d, false, false
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return d, false, false
	}
	return process{pid, group}, fields[0][0] == 'Z', true
}

// startOf returns when a process began, in clock ticks since the system started.
func startOf(pid int) (at uint64, ok bool) {
	data, err := readFile(procPath(pid, "stat"))
	if err != nil {
		return 0, false
	}
	// "pid (name) state ppid …", of which the 22nd field is the time.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return 0, false
	}
	at, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return at, err == nil
}

// readFile reads a file of /proc. Package os would register it with a poller and ask for its size,
// which /proc does not have.
func readFile(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 4<<10)
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return data, nil
		}
		data = data[:len(data)+max(0, n)]
		data = slices.Grow(data, 1<<10)
	}
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// The mark of a child is its soft RLIMIT_LOCKS: Linux ignores this number since 2.4.25, every
// descendant inherits it through fork, exec and setsid, and every process may read it.
const rlimitLocks = 10

// unmarked is the limit of this process while no child is forked.
var unmarked = sync.OnceValues(func() (old unix.Rlimit, err error) {
	err = unix.Prlimit(0, rlimitLocks, nil, &old)
	return old, err
})

// setMark marks the processes forked until unmark.
func setMark(mark uint64) (unmark func(), ok bool) {
	old, err := unmarked()
	if err != nil || old.Max < mark {
		return nil, false
	}
	if err := unix.Prlimit(0, rlimitLocks, &unix.Rlimit{Cur: mark, Max: old.Max}, nil); err != nil {
		return nil, false
	}
	return func() { _ = unix.Prlimit(0, rlimitLocks, &old, nil) }, true
}

// markOf returns the mark of a process, 0 for none.
func markOf(pid int) uint64 {
	data, err := readFile(procPath(pid, "limits"))
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(data, []byte("Max file locks"))
	fields := bytes.Fields(line[:min(len(line), 40)])
	if len(fields) == 0 {
		return 0
	}
	mark, _ := strconv.ParseUint(string(fields[0]), 10, 64)
	return mark
}
