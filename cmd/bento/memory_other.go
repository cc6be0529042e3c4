//go:build !linux && !darwin

package main

// machineMemory returns 0: on this system it is unknown how much memory the machine has.
func machineMemory() int64 { return 0 }
