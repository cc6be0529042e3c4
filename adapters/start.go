package adapters

import "context"

// Starter is an adapter that starts on its first call, or earlier by Start.
type Starter interface {
	// Start starts the adapter. An adapter at fault is a *Failure.
	Start(ctx context.Context) error
}

// Start starts a if it is a Starter.
func Start(ctx context.Context, a Adapter) error {
	if s, ok := a.(Starter); ok {
		return s.Start(ctx)
	}
	return nil
}
