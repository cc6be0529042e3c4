//go:build !linux

package main

import (
	"errors"
	"os"
)

// keyboard does nothing on this system: no process owns a terminal, see proc.OwnsTerminal.
type keyboard struct{}

func openKeyboard(*os.File, func([]byte), func(), func()) (*keyboard, error) {
	return nil, errors.New("keys are read on Linux only")
}

// Close does nothing.
func (k *keyboard) Close() {}
