package ignore

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// Reading an ignore file, and matching a path, takes at most n log n.
func TestRulesGrowWithTheFile(t *testing.T) {
	path := strings.Repeat("a/", 20) + strings.Repeat("a", 40)
	read := func(data []byte) any { return (*Rules)(nil).With("", string(data)).Match(path, false) }
	list := growth.List
	growth.Check(t, map[string]growth.Reader{
		"names":     growth.Of(read, list("", "n%d\n", "", "")),
		"paths":     growth.Of(read, list("", "/p%d/q\n", "", "")),
		"stars":     growth.Of(read, list("", "**/*a*a*%d\n", "", "")),
		"hostile":   growth.Of(read, list("", "**/*a*a*a*a*/**/*a*a*[%dx]\n", "", "")),
		"negated":   growth.Of(read, list("", "!a%d/**/b\n", "", "")),
		"class":     growth.Of(read, list("[", "%d", "", "]\n")),
		"long path": growth.Of(read, func(n int) string { return strings.Repeat("a/", n) + "b\n" }),
		"long deep": growth.Of(read, func(n int) string { return strings.Repeat("**/a/", n) + "b\n" }),
		"long star": growth.Of(read, func(n int) string { return strings.Repeat("*a", n) + "b\n" }),
		"comments":  growth.Of(read, list("", "# %d\n\n", "", "")),
	})
}

// Nor do many files, one in each directory on the way to a path.
func TestRulesGrowWithTheDepth(t *testing.T) {
	growth.Check(t, map[string]growth.Reader{"files": growth.Of(func(data []byte) any {
		r := (*Rules)(nil)
		for line := range strings.Lines(string(data)) {
			r = r.With("", line)
		}
		return r.Match("a/b", false)
	}, growth.List("", "n%d\n", "", ""))})
}
