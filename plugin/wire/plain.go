package wire

import (
	"strings"
	"unicode"
)

// maxPlain bounds a plain text in bytes.
const maxPlain = 64 << 10

// Plain gives what a plugin said as text that cannot steer a terminal and is not
// too long.
func Plain(text string) string {
	if len(text) > maxPlain {
		text = text[:maxPlain] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
