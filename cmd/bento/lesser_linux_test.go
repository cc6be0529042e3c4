package main

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

const withoutCommand = "__without"

// onLesserKernel runs "without landlock|seccomp CODE COMMAND…": the command sees a
// kernel that does not have the one or the other, and is to end with CODE.
func onLesserKernel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: without landlock|seccomp CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	self, err := os.Executable()
	ts.Check(err)
	program, err := lookPath(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	got := 0
	err = ts.Exec(self, append([]string{withoutCommand, args[0], program}, args[3:]...)...)
	if exit, ok := asExit(err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// becomeWithout has the kernel answer to a call that it does not know it, and becomes
// the program. It returns only if it could not.
func becomeWithout(call string, argv []string) error {
	nr := map[string]uint32{"landlock": unix.SYS_LANDLOCK_CREATE_RULESET, "seccomp": unix.SYS_SECCOMP}[call]
	if nr == 0 || len(argv) == 0 {
		return errors.New("usage: landlock|seccomp PROGRAM…")
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
	return syscall.Exec(argv[0], argv, os.Environ())
}
