//go:build !linux

package proc

import "os"

// Guard does nothing on this system.
func Guard(path string, hold []*os.File, argv ...string) error { return nil }

// Afterwards does nothing on this system.
func Afterwards(argv, env []string) {}

// Dismiss does nothing on this system.
func Dismiss() {}

// Watch does nothing on this system.
func Watch(in *os.File) {}
