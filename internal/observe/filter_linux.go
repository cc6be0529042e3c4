//go:build amd64 || arm64

package observe

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

// Offsets in struct seccomp_data. The lower half of an argument comes first on both machines.
const (
	offsetNr        = 0
	offsetArch      = 4
	offsetArguments = 16
)

// ioUringSetup has the same number everywhere. A ring opens files without any other call: programs use
// ordinary calls where there is none.
const ioUringSetup = 425

// filter returns the program that the kernel runs for every system call. It stops the calls of table, those
// of conditions only if their flags are so, and calls of other interfaces that open or execute files. With changes it
// stops no call of table that only reads.
func filter(changes bool) []unix.SockFilter {
	table, conditions := table, conditions
	if changes {
		table, conditions = changing()
	}
	numbers := slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(nr uint32) bool { _, ok := conditions[nr]; return ok })
	program := []unix.SockFilter{load(offsetArch)}
	foreign := foreignBlock()
	program = append(program, jump(unix.BPF_JEQ, nativeArch, uint8(len(foreign)), 0))
	program = append(program, foreign...)
	program = append(program, load(offsetNr))
	if otherAbove != 0 {
		program = append(program, jump(unix.BPF_JGE, otherAbove, 0, 1), ret(unix.SECCOMP_RET_USER_NOTIF))
	}
	program = append(program, jump(unix.BPF_JEQ, ioUringSetup, 0, 1), ret(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))
	for _, nr := range slices.Sorted(maps.Keys(conditions)) {
		c := conditions[nr]
		yes, no := uint32(unix.SECCOMP_RET_USER_NOTIF), uint32(unix.SECCOMP_RET_ALLOW)
		if c.unset {
			yes, no = no, yes
		}
		program = append(program, jump(unix.BPF_JEQ, nr, 0, 4), load(offsetArguments+8*c.argument), jump(unix.BPF_JSET, c.flag, 0, 1), ret(yes), ret(no))
	}
	for i, nr := range numbers {
		program = append(program, jump(unix.BPF_JEQ, nr, uint8(len(numbers)-i), 0))
	}
	return append(program, ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_USER_NOTIF))
}

// changing returns the calls of table that may change files, and their conditions.
func changing() (map[uint32]call, map[uint32]condition) {
	calls, only := make(map[uint32]call), make(map[uint32]condition)
	for nr, c := range table {
		changes := slices.ContainsFunc(c.operands, func(o operand) bool { return o.use&(action.Write|action.Remove) != 0 })
		switch {
		case c.special == opens:
			calls[nr], only[nr] = c, condition{argument: uint32(c.flags), flag: unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC}
		case changes || c.special == opens2:
			calls[nr] = c
		}
	}
	return calls, only
}

// foreignBlock returns the instructions for programs of another interface, such as 32-bit ones: the first
// call that opens or executes a file is enough to know of them.
func foreignBlock() []unix.SockFilter {
	block := []unix.SockFilter{load(offsetNr)}
	for i, nr := range foreignCalls {
		block = append(block, jump(unix.BPF_JEQ, nr, uint8(len(foreignCalls)-i), 0))
	}
	return append(block, ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_USER_NOTIF))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jump(op uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

func ret(what uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
}

// waitKillable keeps signals other than SIGKILL from interrupting a call that is being noted (Linux 5.19):
// otherwise a program with many signals could make the same call again and again.
const waitKillable = 1 << 5

// install installs the filter on this thread and returns the descriptor of its listener.
func install(changes bool) (int, error) {
	program := filter(changes)
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	set := func(flags uintptr) (int, unix.Errno) {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
		return int(fd), errno
	}
	return installBy(set, func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

// installBy installs the filter by set and, where it needs it, promise, which are calls of the thread that gets it.
func installBy(set func(flags uintptr) (int, unix.Errno), promise func() error) (int, error) {
	fd, errno := set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | waitKillable)
	if errno == unix.EACCES { // only a privileged process need not promise to gain no rights
		if err := promise(); err != nil {
			return -1, os.NewSyscallError("prctl", err)
		}
		fd, errno = set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | waitKillable)
	}
	if errno == unix.EINVAL {
		fd, errno = set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	switch errno {
	case 0:
		return fd, nil
	case unix.EBUSY:
		return -1, fmt.Errorf("another program observes this one already")
	default:
		return -1, fmt.Errorf("the system does not allow to observe programs: %w", os.NewSyscallError("seccomp", errno))
	}
}
