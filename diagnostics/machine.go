package diagnostics

import (
	"errors"
	"slices"
	"syscall"
)

// RuleMachine is the rule of a problem of the machine, not of a file: it is out of
// descriptors or memory, or its disk fails.
const RuleMachine = "machine_fault"

// MachineAdvice is the hint of such a problem.
const MachineAdvice = "see ulimit -n, free memory and the disk, and run again"

// IsMachineFault reports whether an error of reading a file is the machine's fault.
func IsMachineFault(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && slices.Contains([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM}, errno)
}
