package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
)

// Confine returns s, changed so that its program starts confined to r, and a function to call after the start. If the
// kernel cannot execute the program, it executes shell, if that is not nil. self is the path of a program that calls
// EnterRules for RulesCommand. It returns an error if the kernel cannot enforce r.
func (r *Rules) Confine(s proc.Spec, shell []string, self string) (confined proc.Spec, started func(), err error) {
	offer := Offered()
	if why := offer.LacksRules(r.Network); why != "" {
		return s, nil, errors.New(why)
	}
	set, err := r.ruleset(offer.Landlock)
	if err != nil {
		return s, nil, err
	}
	network := "-"
	if r.Network {
		network = "n"
	}
	// The ruleset comes last and leaves the descriptors of s unchanged.
	s.Argv = slices.Concat([]string{self, RulesCommand, strconv.Itoa(firstFile + len(s.Files)), network, s.Program, strconv.Itoa(len(s.Argv))}, s.Argv, shell)
	s.Program, s.Files = self, append(slices.Clip(s.Files), set)
	return s, func() { set.Close() }, nil
}

// handledByRules are the rights that Rules deny where no rule allows them. Names can be read everywhere.
const handledByRules = everything &^ (unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)

// ruleset makes the ruleset of the kernel, which the confined program applies to itself.
func (r *Rules) ruleset(version int) (*os.File, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handledByRules}
	if version < truncates {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	set := os.NewFile(fd, "ruleset")
	if err := r.fill(rules{fd: int(fd), handled: attr.Handled_access_fs}); err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

func (r *Rules) fill(set rules) error {
	if err := set.allowAround(r.Root); err != nil {
		return err
	}
	for _, path := range r.Write {
		if !strings.HasPrefix(r.Root+"/", strings.TrimSuffix(path, "/")+"/") {
			if err := set.allowItself(path, changeFile, changeDir); err != nil {
				return err
			}
		}
	}
	for _, path := range r.Full {
		if err := set.allowItself(path, changeFile, changeDir); err != nil {
			return err
		}
	}
	for _, path := range r.Read {
		if err := set.allowItself(path, readFile, readDir); err != nil {
			return err
		}
	}
	return nil
}

// allowAround allows to read everything but root. A rule for a directory holds for all that is in it, so there is one
// for each file beside root and beside a directory around it.
func (r rules) allowAround(root string) error {
	for at := root; at != "/"; at = filepath.Dir(at) {
		list, _ := os.ReadDir(filepath.Dir(at)) // what cannot be listed needs no rule for each file
		for _, e := range list {
			if path := filepath.Join(filepath.Dir(at), e.Name()); path != at {
				if err := r.allowItself(path, readFile, readDir); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// allowItself is allow for what is no link: a link would lead to something else, which has a rule of its own or none.
func (r rules) allowItself(path string, file, dir uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		if err = (&fs.PathError{Op: "open", Path: path, Err: err}); passedOver(err) {
			return nil
		}
		return err
	}
	defer unix.Close(fd)
	err = r.add(path, fd, file, dir)
	if errors.Is(err, unix.EBADFD) || errors.Is(err, unix.EBADF) {
		return nil // a file system of the kernel that knows no rules
	}
	return err
}

// EnterRules confines a program that was started with RulesCommand; args are the arguments after it. It returns only
// on failure, with the reason.
func EnterRules(args []string) error {
	if len(args) < 5 {
		return errors.New("no program is named")
	}
	set, err := strconv.Atoi(args[0])
	if err != nil || set < firstFile {
		return fmt.Errorf("%q is no descriptor of a ruleset", args[0])
	}
	syscall.CloseOnExec(set)
	network, program, rest := args[1] == "n", args[2], args[4:]
	words, err := strconv.Atoi(args[3])
	if err != nil || words < 1 || words > len(rest) {
		return fmt.Errorf("%q is no number of words", args[3])
	}
	// Only this thread is confined, and it executes the program.
	runtime.LockOSThread()
	if err := restrictTo(set, network); err != nil {
		return fmt.Errorf("the sandbox cannot be entered: %w", err)
	}
	argv, shell := rest[:words], rest[words:]
	err = syscall.Exec(cmp.Or(program, argv[0]), argv, os.Environ())
	if len(shell) > 0 {
		err = cmp.Or(syscall.Exec(shell[0], shell, os.Environ()), err)
	}
	return fmt.Errorf("%q cannot be run: %w", argv[0], err)
}

// restrictTo applies a ruleset to this thread.
func restrictTo(set int, network bool) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	if network {
		return nil
	}
	return install(localFilter(abis()))
}
