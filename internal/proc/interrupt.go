package proc

import (
	"context"
	"errors"
	"syscall"
)

// ErrInterrupt is the cause of a context that ends because of Ctrl-C: its children get SIGINT before
// SIGTERM, as they would at a terminal, and may clean up.
var ErrInterrupt = errors.New("interrupted")

// hurry is the key of the context that Hurried adds.
type hurry struct{}

// Hurried returns ctx for children that are killed at once, without any grace, when now is done. It
// does not end ctx itself.
func Hurried(ctx, now context.Context) context.Context { return context.WithValue(ctx, hurry{}, now) }

// IsHurried reports whether the children of ctx are killed at once by now.
func IsHurried(ctx context.Context) bool {
	now, ok := ctx.Value(hurry{}).(context.Context)
	return ok && now.Err() != nil
}

// killInHurry kills the child when the context of Hurried is done. The caller calls stop.
func (p *Process) killInHurry(ctx context.Context) (stop func() bool) {
	now, ok := ctx.Value(hurry{}).(context.Context)
	if !ok {
		return func() bool { return true }
	}
	return context.AfterFunc(now, p.Kill)
}

// interrupt sends SIGINT to the group of the child, as a terminal does, and waits for the child to exit
// or for its grace to end. Processes outside the group get no SIGINT: those that belong to a job of the
// child's own get it from the child, and must not get it twice.
func (p *Process) interrupt() {
	p.signalGroup(syscall.SIGINT)
	if p.waitExited() {
		p.waitLeft(p.ended.Add(p.linger), p.killed) // what ignores SIGINT, as jobs of a shell do, gets SIGTERM now
	}
}
