package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/diagnostics"
)

// Bounds of the shown findings of a task.
const (
	maxShownFindings = 20
	maxShownLines    = 8   // of one message
	maxShownColumns  = 300 // of one line of it
	// allFindings is the number of findings that a parser keeps. A task with that many may have more.
	allFindings = 1000
)

// WriteFindings writes the findings of tools by file, only the worst ones if there are many. Each has its
// source line and a caret; findings without a file come first. front starts each line, and more follows
// the number of omitted findings. WriteFindings reads no files outside of the workspace.
func WriteFindings(w io.Writer, style Style, list []diagnostics.Diagnostic, front, more string) {
	list = distinct(list)
	shown := worstOf(list)
	file := ""
	for _, d := range shown {
		if d.File != file {
			file = d.File
			fmt.Fprintf(w, "%s%s\n", front, style.Bold(style.place(d.File)))
		}
		if file == "" { // sorted first
			style.writeFinding(w, front, d)
			continue
		}
		style.writeFinding(w, front+"  ", d)
	}
	if left := len(list) - len(shown); left > 0 {
		least := ""
		if len(list) >= allFindings {
			least = "at least "
		}
		fmt.Fprintf(w, "%sand %s%d more%s\n", front, least, left, more)
	}
}

// WritePlaces writes where findings are, a line a file: only the worst ones if there are many.
func WritePlaces(w io.Writer, style Style, list []diagnostics.Diagnostic, front string) {
	var text strings.Builder
	file, last := "", ""
	for _, d := range worstOf(distinct(list)) {
		at := strings.TrimPrefix(d.Where(), d.File)
		switch {
		case d.File != file:
			fmt.Fprintf(&text, "\n%s%s%s", front, style.place(d.File), at)
		case at != last && at != "":
			text.WriteString(", " + at[len(":"):])
		}
		file, last = d.File, at
	}
	if text.Len() > 0 {
		fmt.Fprintln(w, text.String()[len("\n"):])
	}
}

// Warnings returns the errors and warnings among the findings of a successful task, each once.
func Warnings(list []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	return slices.DeleteFunc(distinct(list), func(d diagnostics.Diagnostic) bool {
		return d.Severity != diagnostics.Error && d.Severity != diagnostics.Warning
	})
}

// distinct returns the sorted list with each finding once, even if several tools or rules report it.
func distinct(list []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	list = diagnostics.Sorted(slices.Clone(list))
	type one struct {
		file, message string
		line, col     int
	}
	seen := make(map[one]bool, len(list))
	return slices.DeleteFunc(list, func(d diagnostics.Diagnostic) bool {
		id := one{d.File, d.Message, d.Line, d.Col}
		had := seen[id]
		seen[id] = true
		return had
	})
}

// worstOf returns the worst of a sorted list, in its order.
func worstOf(list []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	if len(list) <= maxShownFindings {
		return list
	}
	rank := func(d diagnostics.Diagnostic) int {
		return slices.Index([]diagnostics.Severity{diagnostics.Error, diagnostics.Warning}, d.Severity) & 3 // others are last
	}
	worst := slices.Clone(list)
	slices.SortStableFunc(worst, func(a, b diagnostics.Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
	return diagnostics.Sorted(worst[:maxShownFindings])
}

// Shown returns a path as the user sees it.
func (s Style) Shown(file string) string {
	if s.Places == nil {
		return file
	}
	return s.Places.Shown(file)
}

// place is shown on one line.
func (s Style) place(file string) string { return PrintableLine(s.Shown(file)) }

func (s Style) writeFinding(w io.Writer, front string, d diagnostics.Diagnostic) {
	at := ""
	if d.Line > 0 {
		at = fmt.Sprintf("%d ", d.Line)
	}
	if d.Col > 0 {
		at = fmt.Sprintf("%d:%d ", d.Line, d.Col)
	}
	severity := s.Yellow(string(d.Severity))
	if d.Severity == diagnostics.Error {
		severity = s.Red(string(d.Severity))
	}
	message := shownLines(d.Message)
	if d.Rule != "" {
		message[0] += s.Dim(" [" + PrintableLine(d.Rule) + "]")
	}
	fmt.Fprintf(w, "%s%s%s: %s\n", front, at, severity, message[0])
	for _, line := range message[1:] {
		fmt.Fprintf(w, "%s    %s\n", front, line)
	}
	for line := range strings.Lines(s.sourceOf(d)) {
		fmt.Fprintf(w, "%s  %s\n", front, strings.TrimRight(line, "\n"))
	}
	if strings.TrimSpace(d.Hint) != "" {
		fmt.Fprintf(w, "%s  %s\n", front, strings.Join(shownLines("hint: "+d.Hint), "\n"+front+"        "))
	}
}

// shownLines returns the shown lines of a message, at least one.
func shownLines(message string) []string {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	if more := len(lines) - maxShownLines; more > 0 {
		lines = append(lines[:maxShownLines], fmt.Sprintf("… %s more", Count(more, "line")))
	}
	for i, line := range lines {
		lines[i] = runewidth.Truncate(PrintableLine(strings.TrimRight(line, "\r")), maxShownColumns, "…")
	}
	return lines
}

// sourceOf returns the source line of a finding, with a caret if its column is known, "" if there is no line
// to show. Paths from tools are untrusted: sourceOf reads no file outside of the workspace.
func (s Style) sourceOf(d diagnostics.Diagnostic) string {
	if s.Places == nil || d.Line < 1 || holdsSecrets(d.File) || !filepath.IsLocal(filepath.FromSlash(d.File)) {
		return ""
	}
	text, ok := s.Places.Line(d.File, d.Line)
	if !ok || strings.TrimSpace(text) == "" {
		return ""
	}
	number := fmt.Sprint(d.Line)
	line, caret := excerpt(text, max(0, d.Col-1))
	shown := s.Dim(number+" | ") + line
	if d.Col > 0 && d.Col <= len(text)+1 {
		shown += "\n" + s.Dim(strings.Repeat(" ", len(number))+" | ") + s.Red(caret)
	}
	return shown
}
