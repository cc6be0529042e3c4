package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/zeebo/blake3"
)

// TestSumOf: the digest of a file that decides an install waits for no named pipe, and ends
// with an interrupt in the middle of a file.
func TestSumOf(t *testing.T) {
	dir := t.TempDir()
	text := make([]byte, 200_001)
	text[100_000] = 1
	plain, pipe := filepath.Join(dir, "plain"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(plain, text, 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	if sum, err := digestOf(t.Context(), plain); sum != blake3.Sum256(text) || err != nil {
		t.Errorf("a file: %x, %v", sum, err)
	}
	for _, name := range []string{pipe, dir, "/dev/zero", filepath.Join(dir, "none")} {
		if _, err := digestOf(t.Context(), name); err == nil {
			t.Errorf("%s has a digest", name)
		}
	}
	ctx := &ending{t.Context(), 2}
	if _, err := digestOf(ctx, plain); !errors.Is(err, context.Canceled) || ctx.looks != -1 {
		t.Errorf("interrupted: %v, %d looks left", err, ctx.looks)
	}
}

// ending is a context that ends after some looks at it.
type ending struct {
	context.Context
	looks int
}

func (c *ending) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}
