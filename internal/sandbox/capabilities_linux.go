package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that a confined root keeps: those over the files and processes that it
// can reach, which root in a container expects. The others reach around a sandbox; CAP_PERFMON, for
// example, reads the environment of any process.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE

// dropCapabilities drops all other capabilities of this thread. With no_new_privs an exec as root
// does not restore them.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // the lower and the upper 32 bits
	if err := unix.Capget(&header, &data[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	data[0].Permitted &= kept
	data[0].Effective &= kept
	data[0].Inheritable &= kept
	data[1] = unix.CapUserData{}
	return os.NewSyscallError("capset", unix.Capset(&header, &data[0]))
}
