// Package raw reads what a tool wrote before anything is known about it: its
// lines, the JSON documents in it, its text and its paths. Everything has a bound,
// and nothing here can fail.
package raw

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/internal/pattern"
)

// Bounds of what is read, in bytes.
const (
	maxInput = 4 << 20 // of a text, its end
	maxLine  = 16 << 10
)

var escapes = pattern.New(`\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\([A-Z0-9]|\x1b[@-_]`)

// Unescaped is text without the escapes of a terminal.
func Unescaped(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return escapes.ReplaceAllString(text, "")
}

// Tail is the end of text that Lines and Documents read, and whether it starts
// inside a line.
func Tail(text []byte) (tail []byte, cut bool) {
	over := len(text) - maxInput
	if over <= 0 {
		return text, false
	}
	return text[over:], text[over-1] != '\n'
}

// Lines gives the whole lines at the end of each text, without their ends and
// without the escapes of a terminal; what a very long line has too much is left out.
func Lines(texts ...[]byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range texts {
			tail, cut := Tail(text)
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
	return Unescaped(string(line))
}

// Clean makes text fit for a terminal and a document: valid, without control
// characters, trimmed, at most limit bytes.
func Clean(text string, limit int) string {
	if len(text) > 2*limit {
		text = text[:2*limit]
	}
	text = strings.ToValidUTF8(Unescaped(text), "\uFFFD")
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
