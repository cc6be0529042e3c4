//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// dieOf ends bento with SIGPIPE: the Go runtime does so for whoever does not catch the
// signal and writes to a pipe, as stdout or stderr, that nobody reads. It returns where
// the signal is ignored.
func dieOf(broken *os.File) {
	signal.Reset(syscall.SIGPIPE)
	_, _ = broken.Write([]byte("\n"))
}
