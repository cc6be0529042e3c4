package report

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, c := range []struct {
		name, text  string
		at          int
		line, caret string
	}{
		{"plain", "run = 3", 6, "run = 3", "      ^"},
		{"tab", "\trun = 3", 7, " run = 3", "       ^"},
		{"wide", `a = "構築" + 1`, 13, `a = "構築" + 1`, "           ^"},
		{"control", "a = \x1b[31m\x07 1", 4, "a = \uFFFD[31m\uFFFD 1", "    ^"},
		{"order of text", "a = \u202e1", 7, "a = \uFFFD1", "     ^"},
		{"invalid", "a = \xff1", 4, "a = \uFFFD1", "    ^"},
		{"behind the end", "a =", 90, "a =", "   ^"},
		{"long behind", "a = " + long, 4, "a = " + long[:95] + "…", "    ^"},
		{"long in front", long + "y", 500, "…" + long[:59] + "y", strings.Repeat(" ", 60) + "^"},
	} {
		line, caret := excerpt(c.text, c.at)
		if line != c.line || caret != c.caret {
			t.Errorf("%s: got\n%s\n%s\nwant\n%s\n%s", c.name, line, caret, c.line, c.caret)
		}
		if w := runewidth.StringWidth(line); w > maxExcerpt {
			t.Errorf("%s: %d columns", c.name, w)
		}
	}
}
