package diagnostics

import (
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

var escapes = pattern.New(`\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\([A-Z0-9]|\x1b[@-_]`)

// Unescaped returns text without the escapes of a terminal, such as colours.
func Unescaped(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return escapes.ReplaceAllString(text, "")
}
