//go:build !linux

package proc

import "context"

// waitIdle does nothing on this system: every child is watched.
func (p *Process) waitIdle(context.Context) (c cause, done bool) { return 0, false }
