package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/action"
)

// TestMark: the end of a log begins at the start of a line, whatever the pieces of the log are, and is bounded in
// lines and bytes.
func TestMark(t *testing.T) {
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	for _, c := range []struct {
		name, text   string
		from, before int
	}{
		{"empty", "", 0, 0},
		{"one line", "one", 0, 0},
		{"few", "one\ntwo\n", 0, 0},
		{"many", many.String(), strings.Index(many.String(), "line 200\n"), 200},
		{"many, open", many.String() + "last", strings.Index(many.String(), "line 201\n"), 201},
		{"long", strings.Repeat("x", maxEndBytes) + "\nshort\n", maxEndBytes + 1, 1},
		{"too long", strings.Repeat("x", maxEndBytes+10), 10, 0},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			var m mark
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				m.note(action.Stdout, []byte(rest[:n]))
				rest = rest[n:]
			}
			if from, before := m.start(); from != c.from || before != c.before {
				t.Errorf("%s in pieces of %d: from %d, %d lines before, want %d, %d", c.name, size, from, before, c.from, c.before)
			}
		}
	}
}
