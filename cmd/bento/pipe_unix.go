//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// dieOf ends bento with SIGPIPE: the Go runtime raises the signal when a program that does not
// catch it writes to a broken pipe as stdout or stderr. dieOf returns if the signal is ignored.
func dieOf(broken *os.File) {
	signal.Reset(syscall.SIGPIPE)
	_, _ = broken.Write([]byte("\n"))
}
