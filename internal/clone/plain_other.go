//go:build !linux

package clone

import "syscall"

// lookOnly opens a file without waiting for a pipe.
const lookOnly = syscall.O_RDONLY | syscall.O_NONBLOCK

// plain opens a path without links. It returns errLink for a path with a link.
func (e *ends) plain(rel string, flag int) (int, error) { return e.slowly(rel, flag) }
