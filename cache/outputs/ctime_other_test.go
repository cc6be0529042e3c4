//go:build unix && !linux

package outputs_test

import "syscall"

// ctime returns 0 on systems where the field has another name.
func ctime(*syscall.Stat_t) int64 { return 0 }
