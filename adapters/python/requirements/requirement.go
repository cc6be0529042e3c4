// Package requirements reads what a Python project asks for: single requirements
// (https://peps.python.org/pep-0508/) and pip's files of them.
package requirements

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Requirement is one thing that is asked for.
type Requirement struct {
	Text     string // as written, without options and comment
	Name     string // normalized, "" when only a path or an address is given
	Spec     string // version specifiers, such as ">=1.0,<2"
	Path     string // absolute, of a local directory or archive
	Editable bool
	Hashed   bool
	File     string // absolute, where it stands
	Line     int    // 1-based
}

// IsArchive tells whether Path is of a wheel or a source archive.
func (r Requirement) IsArchive() bool {
	for _, end := range []string{".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar"} {
		if strings.HasSuffix(r.Path, end) {
			return true
		}
	}
	return false
}

// Normalize gives the name under which a package is known, whatever the case and
// the separators (https://peps.python.org/pep-0503/).
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

// Parse reads one requirement. Relative paths are below dir. It never fails: of
// what it does not understand it knows the text only.
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

// withoutMarker cuts what follows a semicolon: when the requirement counts.
func withoutMarker(text string) string {
	if i := strings.Index(text, ";"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// cutName splits a name, with extras that it drops, from what follows.
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

// localPath gives the path that an address or a bare path means, "" when it is
// not of this machine.
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
	// A variable of the build backend or of the environment is beyond us.
	if path == "" || strings.ContainsAny(path, "{}$\x00") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}

// looksLocal tells of what pip takes for a path.
func looksLocal(text string) bool {
	return !strings.Contains(text, "://") && !strings.Contains(text, "@") &&
		(strings.HasPrefix(text, ".") || strings.Contains(text, "/"))
}
