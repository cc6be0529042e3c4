package procfs

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Process is a process and its group.
type Process struct{ Pid, Group int }

// maxDepth bounds the walk down a tree of processes, which may change under it.
const maxDepth = 100

// Descendants gives the living processes below pid.
func Descendants(pid int) []Process { return appendDescendants(nil, pid, 0) }

func appendDescendants(found []Process, pid, depth int) []Process {
	if depth == maxDepth {
		return found
	}
	for _, child := range Children(pid) {
		d, zombie, ok := Stat(child)
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

// Children gives the children of all threads of pid.
func Children(pid int) []int {
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

// OpenAdopted opens the list of the children that the kernel may have given us: it
// gives orphans to the first thread of a process. -1 when there is none.
func OpenAdopted() int {
	self := os.Getpid()
	fd, err := unix.Open(procPath(self, "task/"+strconv.Itoa(self)+"/children"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// ReadAdopted reads that list as it is now. After each child somebody does, so it
// stays open.
func ReadAdopted(fd int) []int {
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

// Stat reads the group of a process and whether it is dead and not reaped.
func Stat(pid int) (d Process, zombie, ok bool) {
	data, err := readFile(procPath(pid, "stat"))
	if err != nil {
		return d, false, false
	}
	// The name in parentheses may hold anything: "pid (name) state ppid pgrp …".
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 3 {
		return d, false, false
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return d, false, false
	}
	return Process{pid, group}, fields[0][0] == 'Z', true
}

// readFile reads a file of /proc. Those can be read at any time: that of os asks a
// poller first, and for the size, which they do not tell.
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

// The mark of a child is its soft RLIMIT_LOCKS: a number that Linux has not looked
// at since 2.4.25, that every descendant inherits through fork, exec and setsid,
// and that anybody may read.
const rlimitLocks = 10

// unmarked is what this process has when nothing is being forked.
var unmarked = sync.OnceValues(func() (old unix.Rlimit, err error) {
	err = unix.Prlimit(0, rlimitLocks, nil, &old)
	return old, err
})

// SetMark marks what is forked next, until unmark.
func SetMark(mark uint64) (unmark func(), ok bool) {
	old, err := unmarked()
	if err != nil || old.Max < mark {
		return nil, false
	}
	if err := unix.Prlimit(0, rlimitLocks, &unix.Rlimit{Cur: mark, Max: old.Max}, nil); err != nil {
		return nil, false
	}
	return func() { _ = unix.Prlimit(0, rlimitLocks, &old, nil) }, true
}

// Mark gives 0 for a process that has none.
func Mark(pid int) uint64 {
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
