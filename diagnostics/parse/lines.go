package parse

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// Bounds of the input, in bytes.
const (
	maxInput = 4 << 20 // of a text, its end
	maxLine  = 16 << 10
)

// tailOf returns the end of text that linesOf and documents read, and whether it starts
// inside a line.
func tailOf(text []byte) (tail []byte, cut bool) {
	over := len(text) - maxInput
	if over <= 0 {
		return text, false
	}
	return text[over:], text[over-1] != '\n'
}

// linesOf yields the whole lines at the end of each text, without their ends and without
// the escapes of a terminal; it cuts very long lines.
func linesOf(texts ...[]byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range texts {
			tail, cut := tailOf(text)
			for line := range bytes.Lines(tail) {
				if cut {
					cut = false
					continue
				}
				if !yield(plainLine(line)) {
					return
				}
			}
		}
	}
}

func plainLine(line []byte) string {
	line = bytes.TrimRight(line[:min(len(line), maxLine)], "\r\n")
	return diagnostics.Unescaped(string(line))
}

// cleanText returns text fit for a terminal and a document: valid, without control
// characters, trimmed, at most limit bytes.
func cleanText(text string, limit int) string {
	if len(text) > 2*limit {
		text = text[:2*limit]
	}
	text = strings.ToValidUTF8(diagnostics.Unescaped(text), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
