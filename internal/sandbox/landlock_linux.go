package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access rights of files, in the words of the kernel.
const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// changeFile are the rights over a file itself; the others are over the entries of a directory.
	changeFile = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// changeDir excludes making devices: through them a program would reach data without its file.
	changeDir = readDir | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_REFER
	everything = changeFile | changeDir | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// landlockVersion returns the version of Landlock, 0 if the kernel has none or does not allow it.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// ruleset returns the rights that a kernel of this version denies unless a rule allows them. It knows
// versions up to 7; later kernels deny no more than that.
func ruleset(version int, network bool) unix.LandlockRulesetAttr {
	var attr unix.LandlockRulesetAttr
	attr.Handled_access_fs = everything
	if version < 2 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_REFER // denied even without a rule
	}
	if version < truncates {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < 5 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 4 && !network { // in addition to the filter
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return attr
}

// restrict confines this thread and its descendants.
func (p Policy) restrict(version int) error {
	attr := ruleset(version, p.Network)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	rules := rules{fd: int(fd), handled: attr.Handled_access_fs}
	defer unix.Close(rules.fd)
	if err := rules.fill(p); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// rules is a ruleset under construction.
type rules struct {
	fd      int
	handled uint64
}

// fill adds the rules of a policy.
func (r rules) fill(p Policy) error {
	for _, path := range p.Write {
		if err := r.allow(path, changeFile, changeDir); err != nil {
			return err
		}
	}
	for _, path := range devices() {
		if err := r.allow(path, changeFile, readDir); err != nil && !passedOver(err) {
			return err
		}
	}
	for _, path := range p.Read {
		if err := r.allow(path, readFile, readDir); err != nil && !passedOver(err) {
			return err
		}
	}
	return nil
}

// passedOver reports whether an error about a readable path can be ignored: a path that the program
// cannot reach needs no rule.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOTDIR)
}

// allow adds the rule for a file or a directory.
func (r rules) allow(path string, file, dir uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return r.add(path, fd, file, dir)
}

// add adds the rule for an open file or directory.
func (r rules) add(path string, fd int, file, dir uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	rights := file
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights = dir
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("%q: %w", path, os.NewSyscallError("landlock_add_rule", errno))
	}
	return nil
}
