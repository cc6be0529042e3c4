package sandbox

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// abi is one way of making system calls on a machine: a 64-bit one may run 32-bit
// programs too, whose calls have numbers of their own.
type abi struct {
	arch   uint32   // its AUDIT_ARCH
	denied []uint32 // the calls that make sockets
	// above, when not 0, is the number from which on calls are of yet another kind,
	// which is denied whole.
	above uint32
}

// ioUringSetup has the same number everywhere. A ring makes sockets without any
// other call.
const ioUringSetup = 425

// abis gives the ways of this machine, none when it is not known here. The numbers
// are those of socket(2), and of socketcall(2) where that is there too.
func abis() []abi {
	switch runtime.GOARCH {
	case "amd64":
		const x32 = 0x40000000
		return []abi{
			{arch: unix.AUDIT_ARCH_X86_64, denied: []uint32{41, ioUringSetup}, above: x32},
			{arch: unix.AUDIT_ARCH_I386, denied: []uint32{359, 102, ioUringSetup}},
		}
	case "arm64":
		return []abi{
			{arch: unix.AUDIT_ARCH_AARCH64, denied: []uint32{198, ioUringSetup}},
			{arch: unix.AUDIT_ARCH_ARM, denied: []uint32{281, 102, ioUringSetup}},
		}
	case "riscv64":
		return []abi{{arch: unix.AUDIT_ARCH_RISCV64, denied: []uint32{198, ioUringSetup}}}
	}
	return nil
}

// Where struct seccomp_data has them.
const (
	offsetNr   = 0
	offsetArch = 4
)

// filter is the program that the kernel runs for every system call: those that make
// sockets fail with EPERM, and a call of an unknown kind ends the process. Pairs of
// sockets (socketpair(2)) are allowed: they lead nowhere.
func filter(kinds []abi) []unix.SockFilter {
	program := []unix.SockFilter{load(offsetArch)}
	for _, kind := range kinds {
		block := kind.block()
		program = append(program, jump(unix.BPF_JEQ, kind.arch, 0, uint8(len(block))))
		program = append(program, block...)
	}
	return append(program, ret(unix.SECCOMP_RET_KILL_PROCESS))
}

// block is the part for calls of one kind.
func (a abi) block() []unix.SockFilter {
	type test struct {
		op     uint16
		number uint32
	}
	var tests []test
	if a.above != 0 {
		tests = append(tests, test{unix.BPF_JGE, a.above})
	}
	for _, number := range a.denied {
		tests = append(tests, test{unix.BPF_JEQ, number})
	}
	block := []unix.SockFilter{load(offsetNr)}
	for i, t := range tests {
		block = append(block, jump(t.op, t.number, uint8(len(tests)-i), 0))
	}
	return append(block, ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
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

// offersSeccomp asks whether the kernel takes filters, and knows the ends in ours.
func offersSeccomp() bool {
	if abis() == nil {
		return false
	}
	for _, action := range []uint32{unix.SECCOMP_RET_ERRNO, unix.SECCOMP_RET_KILL_PROCESS} {
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
		if errno != 0 {
			return false
		}
	}
	return true
}

// denySockets takes sockets from this thread and what comes of it.
func denySockets() error { return install(filter(abis())) }

func install(program []unix.SockFilter) error {
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
