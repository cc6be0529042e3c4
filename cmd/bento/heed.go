package main

import (
	"context"
	"io"
)

// readFunc is a function that implements io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// heeding returns a reader of r that fails with the error of ctx once ctx is done. It hides
// other methods of r, so that io.Copy copies a large file in pieces.
func heeding(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}
