package host

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error of a file that cannot be started says what is wrong with it.
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
