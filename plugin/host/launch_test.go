package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error about a file that cannot be started names the cause.
func TestFilesThatCannotBeStarted(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `exec format error: it is neither a program for this machine nor a script that begins with "#!"`,
		"echo hello\n":                `exec format error: it is neither a program`,
		"\x7fELF":                     `exec format error: it is neither a program`,
		"#!/no/such/shell -e\necho\n": `no such file or directory: the interpreter of its first line, "#!/no/such/shell -e"`,
		"#!/bin/sh\r\necho\r\n":       `the interpreter of its first line, "#!/bin/sh\r"`,
	} {
		path := filepath.Join(t.TempDir(), "bento-adapter-zig")
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := (&Command{Argv: []string{path}}).Launch(t.Context(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
	_, err := (&Command{Argv: []string{filepath.Join(t.TempDir(), "gone")}}).Launch(t.Context(), io.Discard)
	if err == nil || strings.Contains(err.Error(), "interpreter") {
		t.Errorf("got %v", err)
	}
}

// If a start is cancelled during its check, no process starts. If it was cancelled before, the check does
// not run.
func TestCancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	checks := 0
	c := &Command{Argv: []string{"/bin/sh", "-c", "exit 3"}, Check: func() error { checks++; cancel(); return nil }}
	for range 2 {
		if _, err := c.Launch(ctx, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the error of the context", err)
		}
	}
	if checks != 1 {
		t.Errorf("%d checks, want 1", checks)
	}
}
