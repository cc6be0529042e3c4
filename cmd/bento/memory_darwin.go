package main

import "golang.org/x/sys/unix"

// machineMemory returns how many bytes of memory this machine has, 0 when it is unknown.
func machineMemory() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(size)
}
