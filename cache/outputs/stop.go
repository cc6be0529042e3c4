package outputs

import (
	"context"
	"io"
)

// stopped reports whether stop is closed. stop may be nil.
func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// until is a reader that returns context.Canceled once stop is closed.
type until struct {
	io.Reader
	stop <-chan struct{}
}

func (r until) Read(p []byte) (int, error) {
	if stopped(r.stop) {
		return 0, context.Canceled
	}
	return r.Reader.Read(p)
}
