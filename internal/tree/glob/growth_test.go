package glob

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// Compiling a list of globs, and matching a path, takes at most n log n.
func TestGlobsGrowWithTheirList(t *testing.T) {
	read := func(data []byte) any {
		s, err := Compile("d", strings.Split(string(data), "\n"))
		if err != nil {
			return err
		}
		path := "d/" + strings.Repeat("a/", 20) + strings.Repeat("a", 40)
		return []any{s.Match(path), s.Enters(path), s.Roots(), s.Unmatched(func(yield func(string) bool) { yield(path) })}
	}
	list := growth.List
	growth.Check(t, map[string]growth.Reader{
		"plain":     growth.Of(read, list("", "p%d/q", "\n", "")),
		"deep":      growth.Of(read, list("", "p%d/**", "\n", "")),
		"anywhere":  growth.Of(read, list("", "**/*.%d", "\n", "")),
		"stars":     growth.Of(read, list("", "**/*a*a*a*%d", "\n", "")),
		"negated":   growth.Of(read, list("**", "!**/x%d", "\n", "")),
		"roots":     growth.Of(read, list("", "//p%d/*", "\n", "")),
		"below":     growth.Of(read, list("", "a/a/a/a%d/**", "\n", "")),
		"braces":    growth.Of(read, list("{", "a%d", ",", "}/**")),
		"class":     growth.Of(read, list("[", "a%d", "", "]")),
		"faults":    growth.Of(read, list("", "[%d", "\n", "")),
		"long path": growth.Of(read, func(n int) string { return strings.Repeat("a/", n) + "b" }),
		"long deep": growth.Of(read, func(n int) string { return strings.Repeat("**/a/", n) + "b" }),
		"long star": growth.Of(read, func(n int) string { return strings.Repeat("*a", n) + "b" }),
	})
}
