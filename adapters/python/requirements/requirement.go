// Package requirements reads the requirements of a Python project: single ones
// (https://peps.python.org/pep-0508/) and pip's files of them.
package requirements

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Requirement is one required package.
type Requirement struct {
	Text     string // as written, without options and comment
	Name     string // normalized, "" for a bare path or URL
	Spec     string // version specifiers, such as ">=1.0,<2"
	Path     string // absolute, of a local directory or archive
	Editable bool
	Hashed   bool
	File     string // absolute, the file that states it
	Line     int    // 1-based
}

// IsArchive reports whether Path is a wheel or a source archive.
func (r Requirement) IsArchive() bool {
	for _, end := range []string{".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar"} {
		if strings.HasSuffix(r.Path, end) {
			return true
		}
	}
	return false
}

// Normalize returns the name of a package without differences of case and separators
// (https://peps.python.org/pep-0503/).
func Normalize(name string) string {
	var b strings.Builder
	separate := false
	for _, c := range strings.ToLower(name) {
		if c == '-' || c == '_' || c == '.' {
			separate = true
			continue
		}
		if separate && b.Len() > 0 {
			b.WriteByte('-')
		}
		separate = false
		b.WriteRune(c)
	}
	return b.String()
}

// Parse reads one requirement. Relative paths are below dir. It never fails: of a text that
// it cannot read it sets Text only.
func Parse(text, dir string) Requirement {
	text = strings.TrimSpace(text)
	r := Requirement{Text: text}
	body := withoutMarker(text)
	name, rest := cutName(body)
	if address, ok := strings.CutPrefix(rest, "@"); ok && name != "" {
		r.Name = Normalize(name)
		r.Path = localPath(strings.TrimSpace(address), dir)
		return r
	}
	if r.Path = localPath(body, dir); r.Path != "" || strings.Contains(body, "://") {
		return r
	}
	r.Name = Normalize(name)
	if r.Name != "" {
		r.Spec = strings.Trim(rest, "() \t")
	}
	return r
}

// withoutMarker removes the condition after a semicolon.
func withoutMarker(text string) string {
	if i := strings.Index(text, ";"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// cutName splits a name from the rest, and drops its extras.
func cutName(text string) (name, rest string) {
	end := 0
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	name, rest = text[:end], strings.TrimSpace(text[end:])
	if strings.HasPrefix(rest, "[") {
		if i := strings.IndexByte(rest, ']'); i >= 0 {
			rest = strings.TrimSpace(rest[i+1:])
		}
	}
	if strings.Trim(name, ".-_") == "" {
		return "", rest
	}
	return name, rest
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// localPath returns the path of a URL or of a bare path, "" when it is not on this machine.
func localPath(text, dir string) string {
	path, isFile := strings.CutPrefix(text, "file:")
	if isFile {
		path, _, _ = strings.Cut(path, "#")
		path, _, _ = strings.Cut(path, "?")
		path = strings.TrimPrefix(path, "//localhost")
		path = strings.TrimPrefix(path, "//")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	} else if !looksLocal(text) {
		return ""
	} else if i := strings.LastIndexByte(path, '['); i > 0 && strings.HasSuffix(path, "]") {
		path = path[:i]
	}
	// Only the build backend or the environment expands a variable.
	if path == "" || strings.ContainsAny(path, "{}$\x00") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}

// looksLocal reports whether pip takes text for a path.
func looksLocal(text string) bool {
	return !strings.Contains(text, "://") && !strings.Contains(text, "@") &&
		(strings.HasPrefix(text, ".") || strings.Contains(text, "/"))
}
