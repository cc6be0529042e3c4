package report

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/diagnostics"
)

// Places shows the places of problems as the user sees them.
type Places interface {
	// Shown converts a path relative to the workspace to one relative to the user's directory.
	Shown(file string) string
	// Line returns a line of a file, counted from 1, without its line end. The text is untrusted.
	Line(file string, line int) (text string, ok bool)
}

// Bounds of an excerpt, in columns.
const (
	maxExcerpt = 100 // of the line
	maxBefore  = 60  // of the line in front of the caret
)

// secretFiles are the names of files in which tools keep tokens and passwords.
var secretFiles = []string{
	".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", ".pypirc", "pip.conf", ".netrc", "auth.json", "settings.xml",
	"gradle.properties", "credentials", "credentials.toml",
}

// holdsSecrets reports whether a line of a file may be a secret, so that no output may quote it.
func holdsSecrets(file string) bool {
	dir, name := path.Split(filepath.ToSlash(file))
	return strings.HasPrefix(name, ".env") || slices.Contains(secretFiles, name) || path.Base(dir) == ".cargo"
}

// excerptOf returns the line of an error in a TOML file with a caret below its column, "" if there
// is none to show. It has no line end.
func (s Style) excerptOf(d diagnostics.Diagnostic) string {
	if s.Places == nil || d.Severity != diagnostics.Error || !strings.HasSuffix(d.File, ".toml") || d.Line < 1 || d.Col < 1 || holdsSecrets(d.File) {
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

// excerpt returns the part of a line around a byte, and a line with the caret below that byte. A tab is one
// column. Characters that would steer a terminal are replaced.
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
