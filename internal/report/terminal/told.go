package terminal

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
)

// The lines around the message of a finding in which a tool prints its place.
const (
	linesBefore = 2
	linesAfter  = 12
)

// divide divides findings by whether output tells them to a reader: a line has the message, and that line or one nearby
// has the number of the line. Output for programs, such as JSON, is not for readers. told lacks the findings whose path
// output names as bento does.
func divide(findings []diagnostics.Diagnostic, output string, style report.Style) (told, untold []diagnostics.Diagnostic) {
	lines := strings.Split(plain(output), "\n")
	for i, line := range lines {
		if isForPrograms(line) {
			lines[i] = ""
		}
	}
	for _, d := range findings {
		switch {
		case !tells(lines, d):
			untold = append(untold, d)
		case d.File != "" && !slices.ContainsFunc(lines, func(line string) bool { return names(line, style.Shown(d.File), d) }):
			told = append(told, d)
		}
	}
	return told, untold
}

// isForPrograms reports whether a line looks like one of JSON or XML.
func isForPrograms(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "[{") || line != "" && strings.Contains(`{"<`, line[:1])
}

func tells(lines []string, d diagnostics.Diagnostic) bool {
	message := strings.TrimSpace(firstLine(d.Message))
	_, ofTest, _ := strings.Cut(message, ": ") // after the name of the test
	for i, line := range lines {
		if message == "" || !holds(line, message) && (ofTest == "" || !holds(line, ofTest)) {
			continue
		}
		near := strings.Join(lines[max(0, i-linesBefore):min(len(lines), i+linesAfter)], "\n")
		if holds(near, number(d)) && strings.Contains(near, d.Hint) {
			return true
		}
	}
	return false
}

// names reports whether a line has the path of a finding, and then the number of its line.
func names(line, path string, d diagnostics.Diagnostic) bool {
	_, rest, found := strings.Cut(line, path)
	return found && holds(rest, number(d))
}

// number returns the number of the line of a finding, "" if it is unknown.
func number(d diagnostics.Diagnostic) string {
	if d.Line == 0 {
		return ""
	}
	return strconv.Itoa(d.Line)
}

// holds reports whether text has part, and not only within longer words or numbers.
func holds(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 || part == "" {
			return part == ""
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(part):])
		first, _ := utf8.DecodeRuneInString(part)
		last, _ := utf8.DecodeLastRuneInString(part)
		if !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(after)) {
			return true
		}
		from += len(string(first))
		if from > len(text) {
			return false
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
