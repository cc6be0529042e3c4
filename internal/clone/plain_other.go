//go:build !linux

package clone

import "syscall"

// lookOnly is for a look at what is there. A pipe must not be waited for.
const lookOnly = syscall.O_RDONLY | syscall.O_NONBLOCK

// plain opens a path without a link on it. The error is errLink where there is one.
func (e *ends) plain(rel string, flag int) (int, error) { return e.slowly(rel, flag) }
