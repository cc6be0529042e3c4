//go:build !linux

package host

import "syscall"

// UnreadOfPipe returns a function that returns how many bytes of a pipe its reader has not read, 0 if that
// is not known.
func UnreadOfPipe(syscall.Conn) func() int { return nil }

// UnreadOfSocket is UnreadOfPipe for a socket.
func UnreadOfSocket(syscall.Conn) func() int { return nil }
