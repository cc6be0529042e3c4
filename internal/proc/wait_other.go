//go:build !linux

package proc

import "context"

// waitIdle waits for nothing here: every child is watched.
func (p *Process) waitIdle(context.Context) (c cause, done bool) { return 0, false }
