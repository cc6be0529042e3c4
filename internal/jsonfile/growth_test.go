package jsonfile

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// No document needs more than n log n for n entries.
func TestReadingGrowsWithTheFile(t *testing.T) {
	read := growth.By(ParseLoose)
	growth.Check(t, map[string]growth.Reader{
		"keys":     growth.Of(read, growth.List("{", `"k%d": 1`, ",", "}")),
		"same key": growth.Of(read, growth.List("{", `"k": %d`, ",", "}")),
		"array":    growth.Of(read, growth.List("[", `"x\u00e9%d"`, ",\n", "]")),
		"objects":  growth.Of(read, growth.List("[", `{"k%d": {"a": [1]}}`, ",", "]")),
		"comments": growth.Of(read, growth.List("[", "/* %d */ 1", ", // x\n", "]")),
		"text":     growth.Of(read, func(n int) string { return `"` + strings.Repeat(`\n\u00e9x`, n) + `"` }),
		"cut off":  growth.Of(read, growth.List("[", "[%d", ",", "")),
	})
}
