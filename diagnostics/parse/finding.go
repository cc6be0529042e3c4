package parse

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// finder reads one Output and collects its diagnostics.
type finder struct {
	out  diagnostics.Output
	tool string
	list []diagnostics.Diagnostic
	// crates are the packages that cargo compiled; nil until they are needed.
	crates []string
}

// add keeps a diagnostic whose file is in the notation of the tool. It drops a diagnostic without a usable
// file, and shortens the texts of others. See settled for files outside the workspace.
func (f *finder) add(d diagnostics.Diagnostic) {
	f.addAt(f.base(), d)
}

// addAt is add for a tool whose relative paths start at base.
func (f *finder) addAt(base string, d diagnostics.Diagnostic) {
	d.File = f.place(base, d.File)
	d.Message = cleanText(d.Message, maxMessage)
	if d.File == "" || d.Message == "" {
		return
	}
	d.Line = max(1, min(d.Line, maxNumber))
	d.Col = max(0, min(d.Col, maxNumber))
	if !hasEnd(d) {
		d.EndLine, d.EndCol = 0, 0
	}
	if d.Severity == "" {
		d.Severity = diagnostics.Error
	}
	if d.Source == "" {
		d.Source = f.tool
	}
	d.Rule, d.Source, d.Hint = cleanText(d.Rule, maxName), cleanText(d.Source, maxName), cleanText(d.Hint, maxMessage)
	f.list = append(f.list, settled(d))
	if len(f.list) >= 16*maxFindings { // hostile: many diagnostics take memory
		f.list = worst(f.list)
	}
}

// settled returns d in its reported form. If the file is outside the workspace, File is empty and the
// message has the place.
func settled(d diagnostics.Diagnostic) diagnostics.Diagnostic {
	if absolute(d.File) || d.File == ".." || strings.HasPrefix(d.File, "../") {
		d.Message = cleanText(d.Where()+": "+d.Message, maxMessage)
		d.File, d.Line, d.Col, d.EndLine, d.EndCol = "", 0, 0, 0, 0
	}
	return d
}

func hasEnd(d diagnostics.Diagnostic) bool {
	if d.Col < 1 || d.EndCol < 1 || d.EndLine < d.Line || max(d.EndLine, d.EndCol) > maxNumber {
		return false
	}
	return d.EndLine > d.Line || d.EndCol >= d.Col
}

// base returns the directory that relative paths start at.
func (f *finder) base() string {
	if f.out.Base != "" {
		return f.out.Base
	}
	return f.out.Dir
}

// place returns a tool's path in the form of diagnostics.Diagnostic.File, or "".
func (f *finder) place(base, name string) string {
	name = slashed(name)
	if name == "" {
		return ""
	}
	root := slashed(f.out.Root)
	if !absolute(name) {
		if base = slashed(base); !absolute(base) {
			base = path.Join(root, base)
		}
		name = path.Join(base, name)
	}
	name = path.Clean(name)
	if within, ok := insideDir(root, name); ok {
		name = within
	}
	if len(name) > maxPath || strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		return ""
	}
	return name
}

// ours reports whether a path of the output is in the workspace, and not in an installed package.
func (f *finder) ours(name string) bool {
	located := f.place(f.base(), name)
	return located != "" && !absolute(located) && !strings.HasPrefix(located, "../") &&
		!strings.Contains("/"+located, "/site-packages/") && !strings.Contains("/"+located, "/vendor/") &&
		!strings.Contains("/"+located, "/node_modules/")
}

// severityOf maps the words of all the tools. For an unknown word it returns other.
func severityOf(word string, other diagnostics.Severity) diagnostics.Severity {
	switch strings.ToLower(word) {
	case "error", "fatal", "fatal error", "e", "f", "failure-note", "error: internal compiler error":
		return diagnostics.Error
	case "warning", "warn", "w", "c", "convention", "r", "refactor":
		return diagnostics.Warning
	case "info", "note", "i", "remark", "none":
		return diagnostics.Info
	case "hint", "help":
		return diagnostics.Hint
	}
	return other
}
