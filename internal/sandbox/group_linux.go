package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// group is the directory of a cgroup that limits processes and threads, "" if none can be made.
type group string

// groupPrefix is the start of the names of groups; the number of this process follows.
const groupPrefix = "bento-plugin-"

var groups atomic.Uint64 // number of groups made by this process

// newGroup makes a group for a number of processes and threads, if the kernel has the controller and
// the user may make one. It removes empty groups of dead processes.
func newGroup(tasks int) group {
	parent := pidsGroup()
	if tasks <= 0 || parent == "" {
		return ""
	}
	sweep(parent)
	g := group(filepath.Join(parent, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1))))
	if err := os.Mkdir(string(g), 0o755); err != nil {
		return ""
	}
	if err := os.WriteFile(filepath.Join(string(g), "pids.max"), []byte(strconv.Itoa(tasks)), 0); err != nil {
		g.remove()
		return ""
	}
	return g
}

// pidsGroup returns the directory of this process's group in the pids controller (cgroups(7)): in
// its own hierarchy, or in that of version 2 if child groups have the controller. It returns "" for
// none.
func pidsGroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "pids":
			return filepath.Join("/sys/fs/cgroup/pids", parts[2])
		case parts[0] == "0" && parts[1] == "":
			dir := filepath.Join("/sys/fs/cgroup", parts[2])
			controllers, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " pids ") {
				return dir
			}
		}
	}
	return ""
}

// sweep removes the groups of dead processes. The kernel keeps one that has processes.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*-*"))
	for _, dir := range left {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if pid, err := strconv.Atoi(maker); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = unix.Rmdir(dir)
		}
	}
}

// enter moves this process into the group. If it fails the other limit applies.
func (g group) enter() {
	if g != "" {
		_ = os.WriteFile(filepath.Join(string(g), "cgroup.procs"), []byte("0"), 0)
	}
}

// removeTime is the longest wait for processes to die of SIGKILL.
const removeTime = 5 * time.Second

// remove kills the processes of the group, and removes it.
func (g group) remove() {
	if g == "" {
		return
	}
	for until := time.Now().Add(removeTime); ; time.Sleep(time.Millisecond) {
		err := unix.Rmdir(string(g))
		if err == nil || errors.Is(err, fs.ErrNotExist) || time.Now().After(until) {
			return
		}
		text, _ := os.ReadFile(filepath.Join(string(g), "cgroup.procs"))
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
}

// limitTasks limits the processes and threads of this user to the number that the machine runs now,
// of any user, plus more. Descendants inherit the limit and cannot raise it.
func limitTasks(more int) error {
	if more <= 0 {
		return nil
	}
	return limitUser(uint64(running() + more))
}

// limitUser limits the processes and threads of this user.
func limitUser(most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	most = min(most, now.Max, now.Cur)
	return os.NewSyscallError("setrlimit", unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}))
}

// running returns the number of processes and threads of the machine, 0 when unknown: the fourth
// field of /proc/loadavg is "runnable/all".
func running() int {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(all)
	return n
}
