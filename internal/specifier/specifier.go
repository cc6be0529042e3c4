// Package specifier finds what modules of JavaScript and TypeScript import.
package specifier

import (
	"strings"
	"unicode/utf8"
)

// maxSpecifier is the largest number of characters of a specifier.
const maxSpecifier = 1000

// All yields the start and the end of each specifier in a source: quoted text of one line
// after from, import or require, and in comments that name the types of an import. It also yields
// other text of this form. It searches only for quotes: a regular expression would read every
// character.
func All(text string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for at := 0; ; {
			i := strings.IndexAny(text[at:], `"'`)
			if i < 0 {
				return
			}
			from := at + i + 1
			at = from
			length := strings.IndexAny(text[from:], "\"'\r\n")
			if length < 0 {
				return
			}
			end := from + length
			if length == 0 || text[end] == '\r' || text[end] == '\n' || !imports(text[:from-1]) || utf8.RuneCountInString(text[from:end]) > maxSpecifier {
				continue
			}
			if at = end + 1; !yield(from, end) {
				return
			}
		}
	}
}

// imports reports whether text ends in what comes before a specifier.
func imports(text string) bool {
	text = withoutSpace(text)
	if before, ok := strings.CutSuffix(text, "="); ok {
		return namesTypes(withoutSpace(before))
	}
	text = withoutSpace(strings.TrimSuffix(text, "("))
	for _, word := range []string{"from", "import", "require"} {
		if before, ok := strings.CutSuffix(text, word); ok {
			return before == "" || !isWord(before[len(before)-1])
		}
	}
	return false
}

// namesTypes reports whether text ends in @deno-types, or in <reference with path or types.
func namesTypes(text string) bool {
	if strings.HasSuffix(text, "@deno-types") {
		return true
	}
	for _, name := range []string{"path", "types"} {
		if before, ok := strings.CutSuffix(text, name); ok {
			tag := withoutSpace(before)
			return tag != before && strings.HasSuffix(tag, "<reference")
		}
	}
	return false
}

func withoutSpace(text string) string { return strings.TrimRight(text, " \t\n\f\r") }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
