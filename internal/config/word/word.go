// Package word tells what is wrong with the names, paths and globs that people write.
package word

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// The rules of what is wrong.
const (
	RulePath = "invalid_path"
	RuleGlob = "invalid_glob"
)

// maxGlob bounds the length of a glob, in bytes.
const maxGlob = 4096

// BadName tells why name cannot be that of a dish or bento, "" when it can. It
// stands in commands and in "dish:task", and on terminals.
func BadName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "it is empty"
	case strings.TrimSpace(name) != name:
		return "it starts or ends with a space"
	case strings.ContainsAny(name, `/\`):
		return "it holds a path separator"
	case strings.Contains(name, ":"):
		return `it holds ":", which separates dish and task`
	case HasControl(name):
		return "it holds a control character"
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case name == "." || name == ".." || name[0] == '-':
		return "a command would take it for something else"
	default:
		return ""
	}
}

// HasControl tells whether s holds a control character.
func HasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// BadGlob tells why s is no glob, and by which rule; "" when it is one.
func BadGlob(s string) (rule, why string) {
	p := strings.TrimPrefix(strings.TrimPrefix(s, "!"), "//")
	switch {
	case p == "" && !strings.HasSuffix(s, "//"):
		return RuleGlob, "is empty"
	case len(s) > maxGlob:
		return RuleGlob, "is too long, expected at most 4096 bytes"
	case strings.ContainsRune(s, 0):
		return RuleGlob, "holds a NUL byte"
	case strings.HasPrefix(p, "/"):
		return RulePath, `is absolute, expected one relative to the dish, or "//" and relative to the workspace`
	case leavesUp(p):
		return RulePath, `leads upwards, expected no ".."; "//" in front starts at the workspace root`
	case !doublestar.ValidatePattern(p):
		return RuleGlob, "does not parse: a bracket or brace is not closed, or it ends in a backslash"
	}
	return "", ""
}

// leavesUp tells whether a part of p, also inside braces, is "..".
func leavesUp(p string) bool {
	parts := strings.FieldsFunc(p, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	for _, part := range parts {
		if part == ".." {
			return true
		}
	}
	return false
}

// CleanDir makes a directory relative to the workspace out of what a person wrote:
// "./a/" is "a". It refuses what leads elsewhere.
func CleanDir(s string) (dir, why string) {
	switch {
	case s == "":
		return "", "is empty"
	case strings.ContainsRune(s, 0):
		return "", "holds a NUL byte"
	case path.IsAbs(s):
		return "", "is absolute, expected one relative to the workspace"
	case leavesUp(s):
		return "", `leads upwards, expected no ".."`
	}
	return path.Clean(s), ""
}
