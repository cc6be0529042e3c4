package report

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/diagnostics"
)

// Places shows the places of problems as the user sees them.
type Places interface {
	// Shown returns a path relative to the workspace as one relative to where the user stands.
	Shown(file string) string
	// Line returns a line of a file, from 1, without its end. It is the text of a file that
	// anyone may have written.
	Line(file string, line int) (text string, ok bool)
}

// Bounds of an excerpt, in columns.
const (
	maxExcerpt = 100 // of the line
	maxBefore  = 60  // of it in front of the caret
)

// excerptOf returns the line of an error in a TOML file with a caret below its column, "" if there
// is none to show. It has no line end.
func (s Style) excerptOf(d diagnostics.Diagnostic) string {
	if s.Places == nil || d.Severity != diagnostics.Error || !strings.HasSuffix(d.File, ".toml") || d.Line < 1 || d.Col < 1 {
		return ""
	}
	text, ok := s.Places.Line(d.File, d.Line)
	if !ok || strings.TrimSpace(text) == "" {
		return ""
	}
	number := fmt.Sprint(d.Line)
	line, caret := excerpt(text, d.Col-1)
	return s.Dim(number+" | ") + line + "\n" + s.Dim(strings.Repeat(" ", len(number))+" | ") + s.Red(caret)
}

// excerpt returns what of a line a terminal can show around a byte, and the caret that stands below
// that byte. A tab is one column, and what would steer the terminal is replaced.
func excerpt(text string, at int) (line, caret string) {
	at = min(at, len(text))
	before, after := PrintableLine(strings.ToValidUTF8(text[:at], "\uFFFD")), PrintableLine(strings.ToValidUTF8(text[at:], "\uFFFD"))
	if runewidth.StringWidth(before) > maxBefore {
		before = "…" + runewidth.TruncateLeft(before, runewidth.StringWidth(before)-maxBefore+1, "")
	}
	column := runewidth.StringWidth(before)
	after = runewidth.Truncate(after, maxExcerpt-column, "…")
	return strings.TrimRight(before+after, " "), strings.Repeat(" ", column) + "^"
}
