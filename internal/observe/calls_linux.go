//go:build amd64 || arm64

package observe

import (
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

// operand is a path among the arguments of a call.
type operand struct {
	dir  int // the argument with the descriptor of its directory; cwd: the working directory
	path int // the argument with the address of the path; none: the descriptor itself
	use  action.Use
	keep bool // a link in the last place is used itself
}

const (
	cwd  = -1
	none = -1
)

// call says what a system call does.
type call struct {
	operands []operand
	flags    int  // the argument with the flags of open; none for other calls
	special  byte // else what must be looked at
}

// The values of call.special.
const (
	opens    = 'o' // flags are those of open(2)
	opens2   = '2' // the argument of call.flags is the address of struct open_how
	atFlags  = 'a' // call.flags has AT_SYMLINK_NOFOLLOW
	executes = 'x'
	renames  = 'r'
	makes    = 'm' // it fails if the last path exists
	symlinks = 's' // so does this; paths through a link lead elsewhere afterwards
	leaves   = 'l' // the process sees other files afterwards
	clones   = '3' // clone3(2)
	handles  = 'h' // it opens a file without its path
	binds    = 'b'
	listens  = 'n'
	connects = 'c'
)

// condition stops a call only if a flag among its arguments is set, or unset.
type condition struct {
	argument uint32
	flag     uint32
	unset    bool
}

// conditions are calls that mostly name no file: a stat of a descriptor, a thread.
var conditions = map[uint32]condition{
	unix.SYS_NEWFSTATAT: {argument: 3, flag: unix.AT_EMPTY_PATH, unset: true},
	unix.SYS_STATX:      {argument: 2, flag: unix.AT_EMPTY_PATH, unset: true},
	unix.SYS_CLONE:      {argument: 0, flag: unix.CLONE_NEWNS | unix.CLONE_NEWUSER},
	unix.SYS_UNSHARE:    {argument: 0, flag: unix.CLONE_NEWNS | unix.CLONE_NEWUSER},
}

func one(dir, path int, use action.Use) []operand { return []operand{{dir: dir, path: path, use: use}} }

// itself is one for calls that do not follow a link in the last place.
func itself(dir, path int, use action.Use) []operand {
	return []operand{{dir: dir, path: path, use: use, keep: true}}
}

// table has the calls that name files, by number.
var table = withLegacy(map[uint32]call{
	unix.SYS_OPENAT:     {operands: one(0, 1, 0), flags: 2, special: opens},
	unix.SYS_OPENAT2:    {operands: one(0, 1, 0), flags: 2, special: opens2},
	unix.SYS_EXECVE:     {operands: one(cwd, 0, action.Read), special: executes},
	unix.SYS_EXECVEAT:   {operands: one(0, 1, action.Read), special: executes},
	unix.SYS_NEWFSTATAT: {operands: one(0, 1, action.Stat), flags: 3, special: atFlags},
	unix.SYS_STATX:      {operands: one(0, 1, action.Stat), flags: 2, special: atFlags},
	unix.SYS_FACCESSAT:  {operands: one(0, 1, action.Stat)},
	unix.SYS_FACCESSAT2: {operands: one(0, 1, action.Stat), flags: 3, special: atFlags},
	unix.SYS_CHDIR:      {operands: one(cwd, 0, action.Stat)},
	unix.SYS_READLINKAT: {operands: itself(0, 1, action.Read)},
	unix.SYS_GETDENTS64: {operands: one(0, none, action.List)},
	unix.SYS_UNLINKAT:   {operands: itself(0, 1, action.Remove)},
	unix.SYS_MKDIRAT:    {operands: itself(0, 1, action.Write), special: makes},
	unix.SYS_MKNODAT:    {operands: itself(0, 1, action.Write), special: makes},
	unix.SYS_SYMLINKAT:  {operands: itself(1, 2, action.Write), special: symlinks},
	unix.SYS_LINKAT:     {operands: []operand{{dir: 0, path: 1, use: action.Read, keep: true}, {dir: 2, path: 3, use: action.Write, keep: true}}, special: makes},
	unix.SYS_RENAMEAT:   {operands: []operand{{dir: 0, path: 1, use: action.Read | action.Remove, keep: true}, {dir: 2, path: 3, use: action.Write, keep: true}}, special: renames},
	unix.SYS_RENAMEAT2:  {operands: []operand{{dir: 0, path: 1, use: action.Read | action.Remove, keep: true}, {dir: 2, path: 3, use: action.Write, keep: true}}, special: renames},
	unix.SYS_TRUNCATE:   {operands: one(cwd, 0, action.Write)},
	unix.SYS_FCHMODAT:   {operands: one(0, 1, action.Write)},
	unix.SYS_MOUNT:      {special: leaves},
	unix.SYS_MOVE_MOUNT: {special: leaves},
	unix.SYS_PIVOT_ROOT: {special: leaves},
	unix.SYS_CHROOT:     {special: leaves},
	unix.SYS_UNSHARE:    {special: leaves},
	unix.SYS_SETNS:      {special: leaves},
	unix.SYS_CLONE:      {special: leaves},
	unix.SYS_CLONE3:     {special: clones},

	unix.SYS_OPEN_BY_HANDLE_AT: {special: handles},
	unix.SYS_BIND:              {special: binds},
	unix.SYS_LISTEN:            {special: listens},
	unix.SYS_CONNECT:           {special: connects},
})
