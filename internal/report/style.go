// Package report renders the results of package run as the documents of bento's commands, in
// JSON and as text for people. It makes no decisions.
package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// Style paints words and shows places. The zero value paints nothing, and shows places as they are.
type Style struct {
	Color  bool
	Places Places // nil for none
	// Columns returns the width of the terminal that shows problems, nil for a log.
	Columns func() int
}

// The paints.
func (s Style) Red(text string) string    { return s.paint("31", text) }
func (s Style) Green(text string) string  { return s.paint("32", text) }
func (s Style) Yellow(text string) string { return s.paint("33", text) }
func (s Style) Dim(text string) string    { return s.paint("2", text) }
func (s Style) Bold(text string) string   { return s.paint("1", text) }

// Name paints text in a colour that is always the same for a name.
func (s Style) Name(name, text string) string {
	colors := []string{"36", "35", "34", "32", "33", "96", "95", "94"}
	hash := 0
	dish, _, _ := strings.Cut(name, ":")
	for _, r := range dish {
		hash = hash*31 + int(r)
	}
	return s.paint(colors[uint(hash)%uint(len(colors))], text)
}

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Printable replaces characters that would move a terminal's cursor or change its colours, and breaks up texts
// that a CI service would take as a command: names of files and messages of plugins are untrusted.
func Printable(s string) string {
	s = disarmed(s)
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '�'
		}
		return r
	}, s)
}

// disarmed puts a blank into workflow commands of GitHub Actions: "::name::" at the start of a line, also after
// blanks, and "##[name]" anywhere in a line.
func disarmed(s string) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##[") {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "##[", "## ["), "\n")
	for i, line := range lines {
		text := strings.TrimLeftFunc(line, isBlank)
		if strings.HasPrefix(text, "::") {
			lines[i] = line[:len(line)-len(text)] + ": " + text[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// isBlank reports whether a reader may skip a character at the start of a line.
func isBlank(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }

// PrintableLine is Printable for a text that must stay on one line.
func PrintableLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n':
			return utf8.RuneError
		case '\t':
			return ' '
		}
		return r
	}, Printable(s))
}

func unprintable(r rune) bool { return r != '\n' && r != '\t' && diagnostics.Unprintable(r) }

// Count returns a number with its noun, as in "2 tasks".
func Count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "sh"):
		thing += "e"
	case strings.HasSuffix(thing, "ry"):
		thing = strings.TrimSuffix(thing, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Indent indents the lines of a message after the first, to set them off from other lines.
func Indent(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n         ")
}

// Seconds returns a duration for people, "" if it is zero.
func Seconds(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%dms", max(1, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
