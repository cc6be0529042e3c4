//go:build !linux

package screen

import (
	"errors"
	"os"
)

// Keyboard does nothing on this system: no process owns a terminal, see proc.OwnsTerminal.
type Keyboard struct{}

// OpenKeyboard returns an error.
func OpenKeyboard(*os.File, func([]byte), func(), func()) (*Keyboard, error) {
	return nil, errors.New("keys are read on Linux only")
}

// Close does nothing.
func (k *Keyboard) Close() {}
