//go:build !linux

package terminal

import "os"

// Owned tells whether f is a terminal that a child can be given. Here none is.
func Owned(*os.File) bool { return false }

// Lent is nothing here.
type Lent struct{}

// Remember does nothing.
func Remember(*os.File) *Lent { return nil }

// Lend does nothing.
func (l *Lent) Lend(int) {}

// TakeBack does nothing.
func (l *Lent) TakeBack() {}
