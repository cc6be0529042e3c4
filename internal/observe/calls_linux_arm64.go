package observe

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	otherAbove = 0
)

// foreignCalls are open, execve, openat and openat2 of 32-bit programs.
var foreignCalls = []uint32{5, 11, 322, 437}

func withLegacy(calls map[uint32]call) map[uint32]call { return calls }

func makesNode(nr int32) bool { return nr == unix.SYS_MKNODAT }

func makesDir(nr int32) bool { return nr == unix.SYS_MKDIRAT }
