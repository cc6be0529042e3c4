//go:build !linux

package sandboxtest

import "errors"

var errLinux = errors.New("for Linux only")

// Without is for Linux only.
func Without(string) error { return errLinux }

// Become is for Linux only.
func Become(string, []string) error { return errLinux }
