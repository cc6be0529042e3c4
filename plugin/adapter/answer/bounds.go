package answer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// Bounds of a plugin's answers.
const (
	maxText  = 64 << 10 // bytes of a string
	maxName  = 256      // bytes of a name
	maxTasks = 1000     // also of globs in a list, hooks and the like
	maxPaths = 10_000   // also of links and diagnostics

	maxCommands = 32 // of one install

	maxGlob   = 4096 // bytes of a glob
	maxArms   = 256  // of the patterns that its braces expand to
	maxBraces = 16   // nesting of braces
)

func text() *shape.Shape { return shape.Text(maxText) }

func command() *shape.Shape {
	return text().That("a shell command", func(s string) bool { return strings.TrimSpace(s) != "" && !strings.Contains(s, "\x00") })
}

// name returns the shape of a text that is shown in lines and lists.
func name(what string) *shape.Shape { return shape.Text(maxName).That(what, isName) }

func isName(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

func absolute() *shape.Shape { return text().That("an absolute path without \"..\"", isAbsolute) }

func isAbsolute(s string) bool {
	return filepath.IsAbs(s) && !climbs(s) && !strings.Contains(s, "\x00")
}

func inside() *shape.Shape { return text().That("a path relative to the dish and inside it", isInside) }

func isInside(s string) bool {
	return !filepath.IsAbs(s) && !strings.HasPrefix(s, "/") && !climbs(s) && !strings.Contains(s, "\x00")
}

// climbs reports whether a path has ".." in it.
func climbs(s string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(s), "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// dishGlobs returns the shape of globs relative to any dish.
func dishGlobs() *shape.Shape {
	return shape.List(maxTasks, text().Unless("a glob inside the dish, outside .git and .bento", globFault))
}

func inputGlobs() *shape.Shape {
	return shape.List(maxTasks, text().Unless("a glob inside the dish, or inside the workspace after \"//\", outside .git and .bento", func(s string) string {
		return globFault(strings.TrimPrefix(strings.TrimPrefix(s, "!"), "//"))
	}))
}

// globFault returns the fault of a pattern. It returns "" for a valid pattern that matches only inside its
// base directory, even with its braces expanded and its escapes removed.
func globFault(pattern string) string {
	switch {
	case len(pattern) > maxGlob:
		return fmt.Sprintf("it has more than %d bytes", maxGlob)
	case arms(pattern) > maxArms:
		return fmt.Sprintf("its braces expand to more than %d patterns", maxArms)
	}
	// A glob that the matcher refuses would stop the whole workspace later. The dish may be
	// the root, whose .bento belongs to bento.
	var bad *glob.Error
	if _, err := glob.Compile("", []string{pattern}); errors.As(err, &bad) {
		return bad.Reason
	} else if err != nil {
		return err.Error()
	}
	if !doublestar.ValidatePattern(pattern) {
		return "it is malformed"
	}
	plain := strings.ReplaceAll(pattern, `\`, "")
	if strings.HasPrefix(plain, "/") ||
		strings.HasPrefix(plain, "{") && (strings.Contains(plain, "{/") || strings.Contains(plain, ",/")) {
		return "it is absolute"
	}
	if climbs(strings.NewReplacer("{", "/", "}", "/", ",", "/").Replace(plain)) {
		return `it leaves the dish by ".."`
	}
	return ""
}

// arms returns how many patterns the braces of a glob expand to, or some number over
// maxArms.
func arms(pattern string) int {
	type level struct{ before, now int } // of the alternatives before this one, and of this one
	levels := []level{{now: 1}}
	for i := 0; i < len(pattern) && len(levels) <= maxBraces; i++ {
		top := &levels[len(levels)-1]
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			levels = append(levels, level{now: 1})
		case c == ',' && len(levels) > 1:
			top.before, top.now = top.before+top.now, 1
		case c == '}' && len(levels) > 1:
			levels = levels[:len(levels)-1]
			levels[len(levels)-1].now *= top.before + top.now
		}
		if levels[len(levels)-1].now > maxArms {
			return maxArms + 1
		}
	}
	if len(levels) > maxBraces {
		return maxArms + 1
	}
	return levels[0].now
}

func variables() *shape.Shape {
	return shape.Table(maxTasks, text().That("a string without NUL", func(s string) bool { return !strings.Contains(s, "\x00") })).
		Called(`an object of variables, such as {"CC": "clang"}`)
}

// isVariable reports whether a variable can have this name.
func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }

// isID reports whether a plugin can have this id.
func isID(s string) bool {
	for i, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || i > 0 && (c == '_' || c == '-')) {
			return false
		}
	}
	return s != ""
}
