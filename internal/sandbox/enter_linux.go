package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// reportFD is where the helper says what went wrong.
const reportFD = 3

// Enter is what a program does that was called with Command: args are those after
// it. It takes from itself what the policy in them does not allow, as far as the
// kernel offers that, and becomes the program in them; it returns only if it could
// not, with the reason, which Start was told too.
func Enter(args []string) error {
	syscall.CloseOnExec(reportFD)
	err := enter(args)
	_, _ = unix.Write(reportFD, []byte(err.Error())) // nobody may be listening
	return err
}

func enter(args []string) error {
	p, argv, err := parse(args)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	// The rights are taken from this thread only, and it is this thread that becomes
	// the program.
	runtime.LockOSThread()
	if err := p.apply(Offered()); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	err = syscall.Exec(argv[0], argv, os.Environ())
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
	if o.Seccomp && !p.Network {
		return denySockets()
	}
	return nil
}

// Offered asks the kernel what it can enforce.
func Offered() Offer {
	return Offer{Landlock: landlockVersion(), Seccomp: offersSeccomp()}
}
