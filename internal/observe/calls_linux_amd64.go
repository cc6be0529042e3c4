package observe

import (
	"maps"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	otherAbove = 0x40000000 // the calls of the x32 interface begin here
)

// foreignCalls are open, execve, openat and openat2 of 32-bit programs.
var foreignCalls = []uint32{5, 11, 295, 437}

// withLegacy adds the calls that newer machines do not have.
func withLegacy(calls map[uint32]call) map[uint32]call {
	maps.Copy(calls, map[uint32]call{
		unix.SYS_OPEN:     {operands: one(cwd, 0, 0), flags: 1, special: opens},
		unix.SYS_CREAT:    {operands: one(cwd, 0, action.Write)},
		unix.SYS_STAT:     {operands: one(cwd, 0, action.Stat)},
		unix.SYS_LSTAT:    {operands: itself(cwd, 0, action.Stat)},
		unix.SYS_ACCESS:   {operands: one(cwd, 0, action.Stat)},
		unix.SYS_READLINK: {operands: itself(cwd, 0, action.Read)},
		unix.SYS_GETDENTS: {operands: one(0, none, action.List)},
		unix.SYS_UNLINK:   {operands: itself(cwd, 0, action.Remove)},
		unix.SYS_RMDIR:    {operands: itself(cwd, 0, action.Remove)},
		unix.SYS_MKDIR:    {operands: itself(cwd, 0, action.Write), special: makes},
		unix.SYS_MKNOD:    {operands: itself(cwd, 0, action.Write), special: makes},
		unix.SYS_SYMLINK:  {operands: itself(cwd, 1, action.Write), special: symlinks},
		unix.SYS_LINK:     {operands: []operand{{dir: cwd, path: 0, use: action.Read, keep: true}, {dir: cwd, path: 1, use: action.Write, keep: true}}, special: makes},
		unix.SYS_RENAME:   {operands: []operand{{dir: cwd, path: 0, use: action.Read | action.Remove, keep: true}, {dir: cwd, path: 1, use: action.Write, keep: true}}, special: renames},
		unix.SYS_CHMOD:    {operands: one(cwd, 0, action.Write)},
	})
	return calls
}

func makesNode(nr int32) bool { return nr == unix.SYS_MKNOD || nr == unix.SYS_MKNODAT }

func makesDir(nr int32) bool { return nr == unix.SYS_MKDIR || nr == unix.SYS_MKDIRAT }
