// Package sandboxtest hides system calls of the kernel from a program, for tests of bento on a kernel
// that lacks them.
package sandboxtest

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Without makes the kernel return ENOSYS for "landlock", "seccomp" or "ptrace", permanently, to the calling
// thread, which it locks, and to its children.
func Without(call string) error {
	nr := map[string]uint32{"landlock": unix.SYS_LANDLOCK_CREATE_RULESET, "seccomp": unix.SYS_SECCOMP, "ptrace": unix.SYS_PTRACE}[call]
	if nr == 0 {
		return fmt.Errorf("the call %q, want landlock, seccomp or ptrace", call)
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		return errno
	}
	return nil
}

// Become calls Without and then executes the program. It returns only on failure.
func Become(call string, argv []string) error {
	if err := Without(call); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}
