//go:build !linux

package proc

import "os"

// ownsTerminal reports whether a child can use the terminal f. On this system none can.
func ownsTerminal(*os.File) bool { return false }

// lentTerminal does nothing on this system.
type lentTerminal struct{}

// rememberTerminal does nothing.
func rememberTerminal(*os.File) *lentTerminal { return nil }

// Lend does nothing.
func (l *lentTerminal) Lend(int) {}

// TakeBack does nothing.
func (l *lentTerminal) TakeBack() {}
