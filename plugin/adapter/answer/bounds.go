package answer

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/plugin/wire/shape"
)

// Bounds of what a plugin answers.
const (
	maxText  = 64 << 10 // bytes of a string
	maxName  = 256      // bytes of a name
	maxTasks = 1000     // also of globs in a list, hooks and the like
	maxPaths = 10_000   // also of links and findings
)

func text() *shape.Shape { return shape.Text(maxText) }

func command() *shape.Shape {
	return text().That("a shell command", func(s string) bool { return strings.TrimSpace(s) != "" && !strings.Contains(s, "\x00") })
}

// name is something that is shown in lines and lists.
func name(what string) *shape.Shape { return shape.Text(maxName).That(what, isName) }

func isName(s string) bool {
	return strings.TrimSpace(s) != "" && strings.IndexFunc(s, unicode.IsControl) < 0
}

func absolute() *shape.Shape { return text().That("an absolute path without \"..\"", isAbsolute) }

func isAbsolute(s string) bool {
	return filepath.IsAbs(s) && !climbs(s) && !strings.Contains(s, "\x00")
}

func inside() *shape.Shape { return text().That("a path inside the dish", isInside) }

func isInside(s string) bool {
	return !filepath.IsAbs(s) && !strings.HasPrefix(s, "/") && !climbs(s) && !strings.Contains(s, "\x00")
}

// climbs tells whether a path has ".." in it.
func climbs(s string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(s), "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

func outputGlobs() *shape.Shape {
	return shape.List(maxTasks, text().That("a glob inside the dish", isGlob))
}

func inputGlobs() *shape.Shape {
	return shape.List(maxTasks, text().That("a glob inside the dish, or inside the workspace after \"//\"", func(s string) bool {
		return isGlob(strings.TrimPrefix(strings.TrimPrefix(s, "!"), "//"))
	}))
}

// isGlob tells whether a pattern is one and can only match inside the directory it
// is relative to, also after its braces are expanded and its escapes taken away.
func isGlob(pattern string) bool {
	if pattern == "" || strings.Contains(pattern, "\x00") || !doublestar.ValidatePattern(pattern) {
		return false
	}
	plain := strings.ReplaceAll(pattern, `\`, "")
	if strings.HasPrefix(plain, "/") ||
		strings.HasPrefix(plain, "{") && (strings.Contains(plain, "{/") || strings.Contains(plain, ",/")) {
		return false
	}
	return !climbs(strings.NewReplacer("{", "/", "}", "/", ",", "/").Replace(plain))
}

func variables() *shape.Shape {
	return shape.Table(maxTasks, text().That("a string without NUL", func(s string) bool { return !strings.Contains(s, "\x00") }))
}

// isVariable tells whether a variable can have this name.
func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }

// isID tells whether a plugin can have this id.
func isID(s string) bool {
	for i, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || i > 0 && (c == '_' || c == '-')) {
			return false
		}
	}
	return s != ""
}
