package config

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// maxGlob bounds the length of a glob, in bytes.
const maxGlob = 4096

// Glob is a pattern as it was written, checked: "!" in front excludes, "//" in
// front (behind a "!") anchors at the workspace root. The Text of one that is wrong
// is empty.
type Glob struct {
	Text string
	Pos  Pos
}

// UnmarshalTOML reads and checks a string.
func (g *Glob) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a glob")}
	}
	*g = Glob{Text: s, Pos: v.Pos()}
	rule, why := checkGlob(s)
	if why == "" {
		return nil
	}
	g.Text = "" // nobody is to stumble over it again
	return []diagnostics.Diagnostic{v.Pos().Error(rule, "glob %q %s", s, why)}
}

func checkGlob(s string) (rule, why string) {
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

// cleanDir makes a directory relative to the workspace out of what a person wrote:
// "./a/" is "a". It refuses what leads elsewhere.
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
