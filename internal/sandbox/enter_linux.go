package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enter is what a program does that was called with Command: args are those after
// it. It takes from itself what the policy in them does not allow, as far as the
// kernel offers that, and becomes the program in them; it returns only if it could
// not, with the reason, which Start was told too.
func Enter(args []string) error {
	if len(args) < 2 {
		return errors.New("confine: no descriptor to report to")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < firstFile {
		return fmt.Errorf("confine: %q is no descriptor to report to", args[0])
	}
	syscall.CloseOnExec(fd)
	err = enter(args[1], args[2:])
	_, _ = unix.Write(fd, []byte(err.Error())) // nobody may be listening
	return err
}

// enter becomes program, or where that is "" the one that the arguments name.
func enter(program string, args []string) error {
	p, group, argv, err := parse(args)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	// The rights are taken from this thread only, and it is this thread that becomes
	// the program.
	runtime.LockOSThread()
	group.enter()
	if err := limitTasks(p.Tasks); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := p.apply(Offered()); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	err = syscall.Exec(cmp.Or(program, argv[0]), argv, os.Environ())
	return &os.PathError{Op: "exec", Path: argv[0], Err: err}
}

// apply takes from this thread what the policy does not allow.
func (p Policy) apply(o Offer) error {
	if o.Landlock == 0 && !o.Seccomp {
		return nil
	}
	// Without it a program could get back by a set-user-ID program what it has lost;
	// the kernel insists.
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

// Offered asks the kernel what it can enforce.
func Offered() Offer {
	return Offer{Landlock: landlockVersion(), Seccomp: offersSeccomp()}
}
