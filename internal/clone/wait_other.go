//go:build !wasip1

package clone

import "syscall"

// dontWait opens a pipe without waiting for its writer.
const dontWait = syscall.O_NONBLOCK
