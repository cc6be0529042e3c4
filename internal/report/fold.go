package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"
)

// prefix is before each line of bento on stderr, in a log. On a terminal it is before the first line of a problem only.
const prefix = "bento: "

// fold calls write, which writes a problem, with a writer for it. On a terminal fold breaks long lines at words, and
// replaces the prefix of all lines after the first by spaces.
func (s Style) fold(w io.Writer, write func(io.Writer)) {
	if s.Columns == nil {
		write(w)
		return
	}
	var text, out bytes.Buffer
	write(&text)
	columns := s.Columns()
	for i, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		if rest, ok := strings.CutPrefix(line, prefix); ok && i > 0 {
			line = strings.Repeat(" ", len(prefix)) + rest
		}
		out.WriteString(breakLine(line, columns))
		out.WriteByte('\n')
	}
	w.Write(out.Bytes()) //nolint:errcheck // there is no other stream for the error
}

// Line breaks a line, or each line of a text, at words if a terminal shows it.
func (s Style) Line(text string) string {
	if s.Columns == nil {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = breakLine(line, s.Columns())
	}
	return strings.Join(lines, "\n")
}

// leastColumns is the width of a terminal below which lines are left to the terminal.
const leastColumns = 40

// breakLine breaks a line at words, so that no part is wider than columns. Further parts are indented by two spaces
// more than the line. A word that is wider stays whole, and so does the line of a source with its caret.
func breakLine(line string, columns int) string {
	if columns < leastColumns || widthOf(line) <= columns || strings.Contains(line, " | ") {
		return line
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if indent == 0 {
		indent = len(prefix)
	}
	margin := strings.Repeat(" ", indent+2)
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(line, " ") {
		width := widthOf(word)
		switch {
		case i == 0:
		case used+1+width > columns && strings.TrimSpace(b.String()) != "":
			b.WriteString("\n" + margin)
			used = len(margin)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += width
	}
	return b.String()
}

// widthOf returns the number of columns of a text, without its colours.
func widthOf(text string) int {
	if strings.Contains(text, "\x1b") {
		text = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
	}
	return runewidth.StringWidth(text)
}
