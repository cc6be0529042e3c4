package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enter confines a program that was started with Command; args are the arguments after it. It drops
// the rights that the policy in args does not allow, as far as the kernel supports it, and executes
// the program in args. It returns only on failure, with the reason, which it also sends to Start.
func Enter(args []string) error {
	if len(args) < 2 {
		return errors.New("confine: no descriptor to report to")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < firstFile {
		return fmt.Errorf("confine: %q is no descriptor to report to", args[0])
	}
	if err = closeOnExec(fd); err == nil {
		err = enter(args[1], args[2:])
	}
	_, _ = unix.Write(fd, []byte(err.Error())) // Start may have ended
	return err
}

// closeOnExec closes first and all descriptors above it when the program starts. bento may have
// inherited any of them, as from a shell with `exec 9>FILE`, and a descriptor gives access to a file
// even if the policy forbids it.
func closeOnExec(first int) error {
	if unix.CloseRange(uint(first), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	open, err := os.ReadDir("/proc/self/fd") // the kernel is older than 5.11
	if err != nil {
		return fmt.Errorf("confine: open descriptors: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// enter executes program, or the one in the arguments if it is "".
func enter(program string, args []string) error {
	p, group, argv, err := parse(args)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	// Only this thread is confined, and it executes the program.
	runtime.LockOSThread()
	group.enter()
	if err := limitTasks(p.Tasks); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := p.hide(); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := p.apply(Offered()); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	err = syscall.Exec(cmp.Or(program, argv[0]), argv, os.Environ())
	return &os.PathError{Op: "exec", Path: argv[0], Err: err}
}

// apply confines this thread to the policy.
func (p Policy) apply(o Offer) error {
	if o.Landlock == 0 && !o.Seccomp {
		return nil
	}
	// Otherwise a set-user-ID program could get the rights back; the kernel requires it.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if o.Landlock > 0 {
		if err := p.restrict(o.Landlock); err != nil {
			return err
		}
	}
	if o.Seccomp {
		return denyCalls(p.Network)
	}
	return nil
}

// Offered returns what the kernel can enforce.
func Offered() Offer {
	return Offer{Landlock: landlockVersion(), Seccomp: offersSeccomp()}
}
