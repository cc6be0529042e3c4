package main

import (
	"context"
	"io"
)

// readFunc is a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// heeding returns a reader of r that ends with the error of ctx once that is done. It
// hides what else r can do, so that a copy of a large file is made in pieces.
func heeding(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}
