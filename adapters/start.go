package adapters

import "context"

// Starter is an adapter that may not be running yet, and is started by the first
// question otherwise.
type Starter interface {
	// Start starts it. An adapter at fault is a *Failure.
	Start(ctx context.Context) error
}

// Start has a started, which most are anyway.
func Start(ctx context.Context, a Adapter) error {
	if s, ok := a.(Starter); ok {
		return s.Start(ctx)
	}
	return nil
}
