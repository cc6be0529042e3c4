package sandbox

import (
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// abi is a system call interface of a machine: a 64-bit one may run 32-bit programs too, whose
// calls have other numbers.
type abi struct {
	arch    uint32   // its AUDIT_ARCH
	sockets []uint32 // the calls that make sockets
	// others are the calls that reach other processes of the user although neither files nor
	// signals allow it: System V IPC, message queues and key rings.
	others  []uint32
	prlimit uint32 // prlimit64(2), which may change another process
	// above, when not 0, is the first number of yet another interface, which is denied whole.
	above uint32
}

// ioUringSetup has the same number everywhere. A ring makes sockets without any other call.
const ioUringSetup = 425

// semtimedop64 is semtimedop(2) of 32-bit programs with a 64-bit time.
const semtimedop64 = 420

// abis returns the interfaces of this machine, none for an unknown architecture. The numbers are
// those of socket(2), and of socketcall(2) where it exists.
func abis() []abi {
	switch runtime.GOARCH {
	case "amd64":
		const x32 = 0x40000000
		return []abi{
			{
				arch: unix.AUDIT_ARCH_X86_64, sockets: []uint32{41, ioUringSetup}, prlimit: 302, above: x32,
				others: slices.Concat(span(29, 31), span(64, 71), []uint32{220}, span(240, 241), span(248, 250)),
			},
			{
				arch: unix.AUDIT_ARCH_I386, sockets: []uint32{359, 102, ioUringSetup}, prlimit: 340,
				// 117 is ipc(2), which covers all of System V IPC.
				others: slices.Concat([]uint32{117}, span(277, 278), span(286, 288), span(393, 402), []uint32{semtimedop64}),
			},
		}
	case "arm64":
		return []abi{
			generic(unix.AUDIT_ARCH_AARCH64),
			{
				arch: unix.AUDIT_ARCH_ARM, sockets: []uint32{281, 102, ioUringSetup}, prlimit: 369,
				others: slices.Concat([]uint32{117}, span(274, 275), span(298, 312), []uint32{semtimedop64}),
			},
		}
	case "riscv64":
		return []abi{generic(unix.AUDIT_ARCH_RISCV64)}
	}
	return nil
}

// generic returns the interface with the numbers that newer 64-bit machines share.
func generic(arch uint32) abi {
	return abi{
		arch: arch, sockets: []uint32{198, ioUringSetup}, prlimit: 261,
		others: slices.Concat(span(180, 181), span(186, 197), span(217, 219)),
	}
}

// span returns the numbers from first to last.
func span(first, last uint32) []uint32 {
	var list []uint32
	for n := first; n <= last; n++ {
		list = append(list, n)
	}
	return list
}

// Offsets in struct seccomp_data. The lower half of the first argument comes first on all known
// machines.
const (
	offsetNr       = 0
	offsetArch     = 4
	offsetArgument = 16
)

// filter returns the program that the kernel runs for every system call. Calls that reach other processes fail with
// EPERM. Calls that make sockets do so, too, unless network is allowed. A call of an unknown interface kills the
// process. socketpair(2) is allowed: its sockets lead nowhere.
func filter(kinds []abi, network bool) []unix.SockFilter {
	program := []unix.SockFilter{load(offsetArch)}
	for _, kind := range kinds {
		block := kind.block(network)
		program = append(program, jump(unix.BPF_JEQ, kind.arch, 0, uint8(len(block))))
		program = append(program, block...)
	}
	return append(program, ret(unix.SECCOMP_RET_KILL_PROCESS))
}

// block returns the instructions for the calls of one interface.
func (a abi) block(network bool) []unix.SockFilter {
	type test struct {
		op     uint16
		number uint32
	}
	var tests []test
	if a.above != 0 {
		tests = append(tests, test{unix.BPF_JGE, a.above})
	}
	denied := a.others
	if !network {
		denied = slices.Concat(a.sockets, a.others)
	}
	for _, number := range denied {
		tests = append(tests, test{unix.BPF_JEQ, number})
	}
	// The process of prlimit64 is an int: the kernel ignores the upper half.
	last := []unix.SockFilter{
		jump(unix.BPF_JEQ, a.prlimit, 0, 2), load(offsetArgument), jump(unix.BPF_JEQ, 0, 0, 1),
		ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)),
	}
	block := []unix.SockFilter{load(offsetNr)}
	for i, t := range tests {
		block = append(block, jump(t.op, t.number, uint8(len(tests)-i-1+len(last)-1), 0))
	}
	return append(block, last...)
}

// local are the families of sockets that lead to no other machine: of Unix, of the kernel and of its ciphers.
var local = []uint32{unix.AF_UNIX, unix.AF_NETLINK, unix.AF_ALG}

// localFilter returns the program that denies all sockets but local ones. Programs know that io_uring may be missing.
func localFilter(kinds []abi) []unix.SockFilter {
	program := []unix.SockFilter{load(offsetArch)}
	for _, kind := range kinds {
		block := kind.localBlock()
		program = append(program, jump(unix.BPF_JEQ, kind.arch, 0, uint8(len(block))))
		program = append(program, block...)
	}
	return append(program, ret(unix.SECCOMP_RET_KILL_PROCESS))
}

// localBlock returns the instructions of localFilter for one interface. The first of sockets is socket(2).
func (a abi) localBlock() []unix.SockFilter {
	block := []unix.SockFilter{load(offsetNr)}
	if a.above != 0 {
		block = append(block, jump(unix.BPF_JGE, a.above, 0, 1), ret(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
	}
	for _, nr := range a.sockets[1:] {
		errno := unix.EPERM
		if nr == ioUringSetup {
			errno = unix.ENOSYS
		}
		block = append(block, jump(unix.BPF_JEQ, nr, 0, 1), ret(unix.SECCOMP_RET_ERRNO|uint32(errno)))
	}
	block = append(block, jump(unix.BPF_JEQ, a.sockets[0], 0, uint8(2+len(local))), load(offsetArgument))
	for i, family := range local {
		block = append(block, jump(unix.BPF_JEQ, family, uint8(len(local)-i), 0))
	}
	return append(block, ret(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)), ret(unix.SECCOMP_RET_ALLOW))
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

// offersSeccomp reports whether the kernel accepts filters, with the return values of ours.
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

// denyCalls denies this thread and its descendants the calls that reach other processes, and
// sockets unless network is allowed.
func denyCalls(network bool) error { return install(filter(abis(), network)) }

func install(program []unix.SockFilter) error {
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
