//go:build !linux

package proc

import "io"

// Guard does nothing on this system.
func Guard(path string, argv ...string) error { return nil }

// Watch does nothing on this system.
func Watch(in io.Reader) {}
