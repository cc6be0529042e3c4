package config

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// The rules of problems of paths and globs.
const (
	rulePath = "invalid_path"
	RuleGlob = "invalid_glob"
)

// maxGlob bounds the length of a glob, in bytes.
const maxGlob = 4096

// BadName reports why name cannot be the name of a dish or bento, "" when it can. Names appear in
// commands, in "dish:task" and on terminals.
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
	case hasControl(name):
		return "it holds a control character"
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case name == "." || name == ".." || name[0] == '-':
		return "commands would misread it"
	default:
		return ""
	}
}

// hasControl reports whether s contains a control character.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// badGlob returns the reason why s is no valid glob, and the rule; "" if s is valid.
func badGlob(s string) (rule, why string) {
	p := strings.TrimPrefix(strings.TrimPrefix(s, "!"), "//")
	switch {
	case p == "" && !strings.HasSuffix(s, "//"):
		return RuleGlob, "is empty"
	case len(s) > maxGlob:
		return RuleGlob, "is too long, expected at most 4096 bytes"
	case strings.ContainsRune(s, 0):
		return RuleGlob, "holds a NUL byte"
	case strings.HasPrefix(p, "/"):
		return rulePath, `is absolute, expected one relative to the dish, or "//" and relative to the workspace`
	case leavesUp(p):
		return rulePath, `leads upwards, expected no ".."; "//" in front starts at the workspace root`
	case !doublestar.ValidatePattern(p):
		return RuleGlob, "does not parse: a bracket or brace is not closed, or it ends in a backslash"
	}
	return "", ""
}

// leavesUp reports whether an element of p, also inside braces, is "..".
func leavesUp(p string) bool {
	parts := strings.FieldsFunc(p, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	for _, part := range parts {
		if part == ".." {
			return true
		}
	}
	return false
}

// cleanDir returns a clean directory relative to the workspace: "a" for "./a/". It reports one
// outside the workspace.
func cleanDir(s string) (dir, why string) {
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
